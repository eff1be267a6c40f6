/** A file, beside `cdktf.json` or where somebody said: Terraform's backend `local`. */
import {isAbsolute, resolve} from 'node:path'
import {z} from 'zod'
import {fileAt} from '../../base/file-place.ts'
import {holderState, processIdentityOf} from '../../base/process-lock.ts'
import {LocalLedgerStore} from '../local-store.ts'
import {defineBackend} from './backend.ts'

const location = z.strictObject({
  type: z.literal('local'),
  file: z.string().describe('a path; a relative one counts from the folder of the stacks'),
})

type Local = z.infer<typeof location>

export const localLedger = (file: string): Local => ({type: 'local', file})

/**
 * Of a relative path only the file name counts: rendered folders come and go. So it is with what cdktf writes where a
 * stack says nothing, the absolute path of the folder that its app ran in.
 */
export function ledgerFile(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path
  return isAbsolute(path) && !/^terraform\..+\.tfstate$/.test(name) ? path : name
}

const placeOf = (file: string): string => `file ${ledgerFile(file)}`

export const local = defineBackend<Local>({
  arguments: {path: 'text', workspace_dir: 'text'},
  location,
  read: ({path}, {stack}) => localLedger(typeof path === 'string' && path !== '' ? ledgerFile(path) : `terraform.${stack}.tfstate`),
  place: ({file}) => placeOf(file),
  remoteState: ({path}) => (typeof path === 'string' ? placeOf(path) : undefined),
  named: text => (/^https?:/i.test(text) ? undefined : localLedger(text)),
  file: ({file}) => file,
  // Several checkouts may link to one ledger: what holds for it lies where its lock does.
  controls: ({file}, {folder}) => localLedger(`${fileAt(resolve(folder, file))}.controls.json`),
  lockedThere: () => undefined,
  open: ({file}, {folder, stack, host, pid, user, clock, random, notice, onWait, fileContent, app}) =>
    new LocalLedgerStore({
      path: resolve(folder, file),
      stack,
      process: processIdentityOf(host, pid),
      stateOf: holder => holderState(holder, host),
      who: user,
      clock,
      random,
      notice,
      ...(onWait === undefined ? {} : {onWait}),
      ...(app === undefined ? {} : {app}),
      ...(fileContent === undefined ? {} : {content: fileContent}),
    }),
})
