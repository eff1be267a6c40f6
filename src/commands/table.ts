/** Every command of the program, one line each. How to add one: `cli/command-table.ts`. */
import type {CommandTable} from '../cli/command-table.ts'

export const table: CommandTable = {
  commands: {
    version: () => import('./version.ts'),
  },
  topics: {},
}
