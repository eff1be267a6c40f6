/** Options of the commands that make a package (contract section 4, "Support-package options"). */

import {DEFAULT_LOG_LINES} from '../../support-package/optimize-archive.ts'
import {clusterFlags, maxSizeFlag, pauseFlag, wholeNumberFlag} from '../parse/flags.ts'
import {Flags} from '../parse/oclif.ts'

/** `-o` is a form of the result or the path of the archive, as the contract has it; both may be given. */
export const outputOrPath = Flags.string({
  char: 'o',
  multiple: true,
  multipleNonGreedy: true,
  summary: 'form of the result (json, yaml, table, text), or path of the archive',
  helpGroup: 'OUTPUT',
  helpValue: '<format|path>',
})

export const uploadFlags = {
  'idle-timeout': pauseFlag({summary: 'longest silence of a connection once bytes flow', default: 60_000}),
}

export const packageFlags = {
  ...clusterFlags,
  ...uploadFlags,
  output: outputOrPath,
  file: Flags.string({summary: 'path of the archive', helpValue: '<path>'}),
  ...maxSizeFlag,
  overwrite: Flags.boolean({summary: 'replace an existing file without asking'}),
  'skip-checks': Flags.boolean({summary: 'skip the checks of free space, existing file and permissions'}),
  'use-new-api': Flags.boolean({summary: 'ask the newer endpoints first (server 7.4 and later)'}),
  optimize: Flags.boolean({summary: 'shrink the archive: last lines of logs, no nested .gz, no duplicates'}),
  'optimize-verbose': Flags.boolean({summary: 'print what the optimization did (and optimize)'}),
  'log-lines': wholeNumberFlag({summary: 'lines kept of each log when optimizing', min: 0, default: DEFAULT_LOG_LINES}),
  upload: Flags.boolean({summary: 'send the archive to the upload service'}),
  save: Flags.boolean({summary: 'keep the local copy; --no-save with --upload deletes it after the upload', allowNo: true, default: true}),
  wait: Flags.boolean({summary: 'wait for a server that makes the package first', allowNo: true, default: true}),
  'wait-timeout': wholeNumberFlag({summary: 'seconds to wait for the package', min: 1, default: 600}),
}

export interface PackageFlagValues {
  readonly output?: readonly string[] | undefined
  readonly file?: string | undefined
  readonly 'max-size'?: number | undefined
  readonly overwrite: boolean
  readonly 'skip-checks': boolean
  readonly 'use-new-api': boolean
  readonly optimize: boolean
  readonly 'optimize-verbose': boolean
  readonly 'log-lines': number
  readonly upload: boolean
  readonly save: boolean
  readonly wait: boolean
  readonly 'wait-timeout': number
  readonly 'idle-timeout': number
}
