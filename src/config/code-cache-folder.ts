/** Where compiled code of the program is kept between calls (`bin/code-cache.ts`), or that it is not. */
import {join} from 'node:path'
import type {ProcessVariables} from '../base/process-variables.ts'
import {isCi, userFolders} from './user-folders.ts'

/**
 * @returns `undefined` where nothing is kept: in CI, where the machine is thrown away, or the next job's user is the one who ran
 *   a pull request's program; where Node is told to keep no compiled code, or measures which code ran.
 */
export function codeCacheFolder(all: ProcessVariables = process.env): string | undefined {
  if (isCi(all) || all.NODE_DISABLE_COMPILE_CACHE || all.NODE_V8_COVERAGE) return undefined
  return join(userFolders(all).folder('XDG_CACHE_HOME', '.cache'), 'svcctl', 'code')
}
