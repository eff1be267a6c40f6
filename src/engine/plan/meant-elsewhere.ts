/** What an object that a saved plan deletes has become since: somebody may have given it the name of another declaration. */
import {asJson, canonicalJson} from '../../base/json.ts'
import type {Operation, Plan} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'

/** Who else means, as it is planned now, the object of an operation, in the same account. */
export function meantElsewhere({accounts}: Plan, fresh: readonly Operation[]): (it: Operation) => Key | undefined {
  const objectOf = ({stack, remoteId = ''}: Operation) => {
    const api = remoteId.slice(0, remoteId.indexOf('/'))
    return `${canonicalJson(asJson(accounts[`${stack}:${api}`] ?? accounts[api] ?? {}))} ${remoteId}`
  }
  const stays = fresh.filter(it => it.remoteId !== undefined && it.action !== 'delete' && it.action !== 'forget')
  const meaning = new Map(stays.map(it => [objectOf(it), keyOfOperation(it)]))
  return it => {
    const key = it.remoteId === undefined ? undefined : meaning.get(objectOf(it))
    return key === keyOfOperation(it) ? undefined : key
  }
}
