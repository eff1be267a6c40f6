/** What is said of ledgers that are not as svcctl left them. */
import {kinds} from '../../backends/kinds.ts'
import {shellWord} from '../../base/shell-word.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {isVersion} from '../../ledger/secret-digests.ts'
import type {FormerLedger} from './other-ledgers.ts'

/** Another program wrote it last. */
export function rewrittenText({stack, entries, rewrittenBy = ''}: Ledger): string {
  const text = `the ledger of stack ${stack} was rewritten by ${rewrittenBy}: its account and the digests of its secrets are lost, and the next apply records them anew (svcctl state mv keeps them)`
  // A secret of other objects is simply sent again.
  const stuck = [...entries.values()].filter(
    ({kind, secrets}) => kinds.get(kind)?.verbs.update === undefined && Object.values(secrets).some(it => !isVersion(it)),
  )
  if (stuck.length === 0) return text
  const accept = stuck.map(it => `--accept ${shellWord(it.address)}`).join(' ')
  return `${text}. Nobody can tell any more whether these have the secrets that are declared, and the API cannot set them again: ${stuck.map(it => it.address).join(', ')}. Where they have them: ${accept}`
}

/** What the stack had stayed behind where its backend has changed; or the file is of another place that it is applied to (`--state`). */
export const leftText = ({stack, path, objects}: FormerLedger): string =>
  `stack ${stack} has no ledger where its backend is, and ${path} has ${objects} of its objects: if its backend has changed, bring them along with svcctl transfer --stack ${shellWord(stack)} --from-state ${shellWord(path)}`
