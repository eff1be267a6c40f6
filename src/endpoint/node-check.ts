/** What a node's `check` action answers; its body is not shown by the contract, and any 2xx may be empty. */
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'

/** The answer with the node it is about; `accepted` where the server said nothing more. */
export function nodeCheckRecord(uid: string, body: Json | undefined): JsonObject {
  const node_uid = /^\d{1,15}$/.test(uid) ? Number(uid) : uid
  return isJsonObject(body) && Object.keys(body).length > 0 ? {node_uid, ...body} : {node_uid, accepted: true}
}

/** `false` only where the answer says so, in any of the words such answers have. */
export function passed(record: JsonObject): boolean {
  const {cluster_test_result, result, status, checks} = record
  if (cluster_test_result === false || result === false) return false
  if (typeof status === 'string' && /^(failed|failure|error|down|unhealthy)$/i.test(status)) return false
  return !(Array.isArray(checks) && (checks as readonly Json[]).some(check => isJsonObject(check) && check.result === false))
}
