/** Every command of the program, one line each. How to add one: `cli/command-table.ts`. */
import type {CommandTable} from '../cli/command-table.ts'

export const table: CommandTable = {
  commands: {
    apply: () => import('./apply.ts'),
    destroy: () => import('./destroy.ts'),
    drift: () => import('./drift.ts'),
    'force-unlock': () => import('./force-unlock.ts'),
    output: () => import('./output.ts'),
    plan: () => import('./plan.ts'),
    'runs list': () => import('./runs/list.ts'),
    'runs show': () => import('./runs/show.ts'),
    show: () => import('./show.ts'),
    simulator: () => import('./simulator.ts'),
    validate: () => import('./validate.ts'),
    completion: () => import('./completion.ts'),
    'files-key get': () => import('./files-key/get.ts'),
    'files-key remove': () => import('./files-key/remove.ts'),
    'files-key set': () => import('./files-key/set.ts'),
    'profile default': () => import('./profile/default.ts'),
    'profile list': () => import('./profile/list.ts'),
    'profile path': () => import('./profile/path.ts'),
    'profile remove': () => import('./profile/remove.ts'),
    'profile set': () => import('./profile/set.ts'),
    'profile show': () => import('./profile/show.ts'),
    'profile validate': () => import('./profile/validate.ts'),
    version: () => import('./version.ts'),
  },
  topics: {
    runs: 'the applies that were made here',
    'files-key': 'the key for uploading support packages',
    profile: 'named credential sets in the configuration file',
  },
}
