/** One edit of the configuration file at a time. */
import {type EditedFile, editLockOf, withEditLock} from '../base/edit-lock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import type {LockHolder} from '../base/process-lock.ts'
import {shellWord} from '../base/shell-word.ts'
import {ConfigAccessError, writableFile} from './config-file.ts'

/** The configuration file, and who edits it. */
export type ConfigPlace = EditedFile

/** Another edit does not come to its end, or took our place. Nothing was written. */
export class ConfigLockedError extends AppError {
  constructor(file: string, holder: LockHolder | undefined) {
    const lock = editLockOf(file)
    const who = holder === undefined ? `${lock} cannot be read` : `process ${holder.pid} on ${holder.host}, since ${holder.since}`
    super(`${file} was not changed: another process is editing it (${who})`, {
      code: 'E_CONFIG_LOCKED',
      exit: EXIT.locked,
      suggestions: ['Run the command again when that process has ended.', `If it is gone for good: rm ${shellWord(lock)}`],
    })
  }
}

/**
 * Waits for the lock, then works under it.
 * @param work - is handed what tells, right before something is written, that the lock is still ours
 * @throws ConfigLockedError, ConfigAccessError
 */
export const withConfigLock = <T>(place: ConfigPlace, work: (assertHeld: () => void) => T): Promise<T> =>
  withEditLock(
    place,
    {
      who: 'configuration',
      placeOf: writableFile,
      locked: (file, holder) => new ConfigLockedError(file, holder),
      unwritable: (file, cause) => new ConfigAccessError(file, 'written', cause),
    },
    (_, assertHeld) => work(assertHeld),
  )
