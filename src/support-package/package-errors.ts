/** What can go wrong between asking for a package and having it. */

import {AppError, EXIT} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'

/** The server works, or seems to, and the time to wait is over. */
export class PackageTimeoutError extends AppError {
  constructor(seconds: number, task?: string, cause?: unknown) {
    super(`the package is not ready after ${seconds} s${task === undefined ? '' : ` (task ${task})`}`, {
      code: 'E_PACKAGE_TIMEOUT',
      exit: EXIT.timeout,
      suggestions: [
        ...(task === undefined ? [] : [`See how far it is: svcctl enterprise support-package status ${shellWord(task)}`]),
        `Wait longer with --wait-timeout ${seconds * 3}.`,
      ],
      cause,
    })
  }
}

/** `--timeout` is over, whatever was on its way by then. */
export class PackageLateError extends AppError {
  constructor(seconds: number) {
    super(`the package is not here after ${seconds} s`, {
      code: 'E_PACKAGE_LATE',
      exit: EXIT.timeout,
      suggestions: ['Run the command again with a longer --timeout, or without one: --wait-timeout and --idle-timeout hold in any case.'],
    })
  }
}

export class PackageFailedError extends AppError {
  constructor(task: string, reason: string) {
    super(`the cluster could not make the package (task ${task}): ${reason}`, {
      code: 'E_PACKAGE_FAILED',
      suggestions: ['Run the command again; `svcctl enterprise cluster logs` shows what the cluster says about it.'],
    })
  }
}

export class PackageTaskUnknownError extends AppError {
  constructor(task: string) {
    super(`the cluster knows no package task ${task}`, {
      code: 'E_PACKAGE_TASK_UNKNOWN',
      exit: EXIT.notFound,
      suggestions: ['Check the task id, or ask for a new package: svcctl enterprise support-package cluster'],
    })
  }
}

/** A finished package that lies where our credentials must not go. */
export class PackageAddressError extends AppError {
  constructor(task: string, origin: string) {
    super(`the package of task ${task} lies at ${origin}, which is not the cluster: credentials go to no other address`, {
      code: 'E_PACKAGE_ADDRESS',
      suggestions: ['Download it from there by hand, or check with the cluster’s administrators why it is not on the cluster.'],
    })
  }
}

/** Bytes stopped coming in the middle. */
export class DownloadStalledError extends AppError {
  constructor(idleMs: number, bytes: number, cause: unknown) {
    super(`the download stood still for ${Math.round(idleMs / 1000)} s after ${bytes} bytes`, {
      code: 'E_DOWNLOAD_STALLED',
      exit: EXIT.timeout,
      suggestions: ['Run the command again, with more patience if the network is slow: --idle-timeout 5m.'],
      cause,
    })
  }
}

/** The server answers for this task, and not in a way that tells how far it is. */
export class PackageStatusShapeError extends AppError {
  constructor(task: string) {
    super(`the answer about package task ${task} does not say how far it is`, {
      code: 'E_PACKAGE_STATUS_SHAPE',
      suggestions: [`See it as it is: svcctl api enterprise get ${shellWord(`/v1/debuginfo/${encodeURIComponent(task)}`)}`],
    })
  }
}

/** The connection broke, and the server now has another archive than the one that was begun. */
export class ArchiveChangedError extends AppError {
  constructor(bytes: number) {
    super(`the download broke off after ${bytes} bytes, and the server makes another archive each time it is asked`, {
      code: 'E_ARCHIVE_CHANGED',
      exit: EXIT.unreachable,
      suggestions: ['Run the command again, nearer to the cluster or when the network is calmer: nothing was saved.'],
    })
  }
}

/** The connection broke, and the server cannot go on from the middle. */
export class DownloadBrokenError extends AppError {
  constructor(bytes: number, reason: string, cause?: unknown) {
    super(`the download broke off after ${bytes} bytes: ${reason}`, {
      code: 'E_DOWNLOAD_BROKEN',
      exit: EXIT.unreachable,
      suggestions: ['Run the command again: nothing was saved.'],
      cause,
    })
  }
}

/** Ctrl-C or SIGTERM before there was an archive. */
export class PackageInterruptedError extends AppError {
  /** @param task - the server goes on making it */
  constructor(task?: string) {
    super(
      task === undefined
        ? 'stopped before the work was done; nothing half-done was left behind'
        : `stopped waiting; the cluster goes on making the package (task ${task})`,
      {
        code: 'E_PACKAGE_INTERRUPTED',
        exit: EXIT.interrupted,
        suggestions: [
          task === undefined ? 'Run the command again.' : `See how far it is: svcctl enterprise support-package status ${shellWord(task)}`,
        ],
      },
    )
  }
}

/** Without this, an endpoint that ignores the node would give all nodes under the name of one that is not there. */
export class NoSuchNodeError extends AppError {
  /** @param known - the uids of the nodes there are */
  constructor(uid: string, known: readonly string[]) {
    super(`there is no node ${uid} on this cluster; its nodes are ${known.join(', ') || 'not listed'}`, {
      code: 'E_NO_SUCH_NODE',
      exit: EXIT.notFound,
      suggestions: [
        ...(known[0] === undefined ? [] : [`Name one that is there: svcctl support-package node ${shellWord(known[0])}`]),
        'See them: svcctl enterprise node list',
      ],
    })
  }
}

/** The place for the archive cannot be written to. */
export class DestinationError extends AppError {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`${path} cannot be written: ${reason}`, {
      code: 'E_DESTINATION',
      suggestions: ['Choose another location: --file /path/with/room/package.tar.gz'],
      cause,
    })
  }
}
