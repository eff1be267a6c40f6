/** `apply --attach` of a run whose process still works on it: nothing is read but its journal. */
import {formatDuration} from '../../base/duration.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {shellWord} from '../../base/shell-word.ts'
import {waitFor} from '../../base/wait-for.ts'
import type {Host} from '../host/host.ts'
import {findRun, type RunStory} from '../journal/run-files.ts'

const LOOK_EVERY_MS = 500

/** The lock it holds is its own. */
export class RunGoesOnError extends AppError {
  constructor({header: {run, process}}: Pick<RunStory, 'header'>, timeoutMs: number) {
    super(`run ${run} was still going on after ${formatDuration(timeoutMs)}: process ${process.pid} on ${process.host} works on it`, {
      code: 'E_RUN_GOES_ON',
      exit: EXIT.timeout,
      suggestions: [
        `Wait for it with more time (--timeout) or none: svcctl apply --attach ${shellWord(run)}`,
        `See how far it is: svcctl runs show ${shellWord(run)}`,
      ],
    })
  }
}

/**
 * @returns the run once it has ended, or its process has
 * @throws RunGoesOnError when the time runs out first
 */
export async function waitForRun(host: Host, run: string, timeoutMs: number | undefined): Promise<RunStory> {
  let story = findRun(host, run)
  const look = async () => {
    story = findRun(host, run)
    return story.ended || !story.alive ? story : undefined
  }
  const ended = await waitFor(look, {clock: host.clock, everyMs: LOOK_EVERY_MS, timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY})
  if (ended === undefined) throw new RunGoesOnError(story, timeoutMs ?? 0)
  return ended
}
