/** Ids as arguments: what cannot be one is refused before anything is sent. */
import {AppError, EXIT} from '../../base/errors.ts'
import {Args} from './oclif.ts'

export class IdError extends AppError {
  /** @param list - the command that shows which there are */
  constructor(noun: string, id: string, expected: string, list: string) {
    super(`invalid ${noun} id ${JSON.stringify(id)}: ${expected}`, {
      code: 'E_ID',
      exit: EXIT.usage,
      suggestions: [`See which there are: ${list}`],
    })
  }
}

const LISTS = {
  node: 'svcctl enterprise node list',
  database: "svcctl api enterprise get /v1/bdbs --query '[].{uid: uid, name: name}'",
  module: 'svcctl enterprise module list',
  task: 'svcctl task list',
  package: 'svcctl enterprise support-package list',
} as const

type Noun = keyof typeof LISTS

/** Nodes and databases of a cluster have numbers (contract section 2). */
export const uidArg = (noun: Extract<Noun, 'node' | 'database'>) =>
  Args.custom<string>({
    ignoreStdin: true,
    parse: async text => {
      const uid = text.trim()
      if (!/^\d+$/.test(uid)) throw new IdError(noun, text, 'it is a number', LISTS[noun])
      return uid
    },
  })

/** Any text; it is one segment of the path whatever it holds. `.` and `..` cannot be: an address has no way to write them. */
export const idArg = (noun: Exclude<Noun, 'node' | 'database'>) =>
  Args.custom<string>({
    ignoreStdin: true,
    parse: async text => {
      const id = text.trim()
      if (id === '') throw new IdError(noun, text, 'it is empty', LISTS[noun])
      if (id === '.' || id === '..') throw new IdError(noun, text, 'it would lead to another path', LISTS[noun])
      return id
    },
  })
