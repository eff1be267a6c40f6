/** Where things of a user lie, and whether anybody sits there. Apart from the environment, since the program asks before it is loaded. */

import {userInfo} from 'node:os'
import {isAbsolute, join} from 'node:path'
import type {ProcessVariables} from '../base/process-variables.ts'

export interface UserFolders {
  readonly home: string
  /** What a variable names, or else a folder in the home. */
  readonly folder: (variable: string, otherwise: string) => string
}

/**
 * The XDG rules, and for a home too: what is relative is to be ignored. It would mean whatever lies in the working folder,
 * which is somebody else's: the profile of a cloned repository.
 */
export function userFolders(all: ProcessVariables): UserFolders {
  const absolute = (name: string): string | undefined => {
    const given = all[name]
    return given && isAbsolute(given) ? given : undefined
  }
  const home = absolute('HOME') ?? absolute('USERPROFILE') ?? ownHome()
  return {home, folder: (variable, otherwise) => absolute(variable) ?? join(home, otherwise)}
}

/** `CI` set to anything but `false` or `0`. */
export const isCi = (all: ProcessVariables): boolean => !['', 'false', '0'].includes(all.CI ?? '')

/** What the system says: Node's own `homedir` believes an empty HOME. Who is nobody has no home, and only root writes to `/`. */
function ownHome(): string {
  try {
    const {homedir} = userInfo()
    return isAbsolute(homedir) ? homedir : '/'
  } catch {
    return '/'
  }
}
