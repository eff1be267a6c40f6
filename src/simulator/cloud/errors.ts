/** The cloud API's error bodies (contract section 2, and the other spellings of the wire facts). */
import {STATUS_CODES} from 'node:http'
import type {Answer, Exchange, Refusal} from '../base/answer.ts'

const CODES: Readonly<Record<string, string>> = {not_found: 'NOT_FOUND', method_not_allowed: 'METHOD_NOT_ALLOWED'}

export function cloudError({config, now, path}: Exchange, refusal: Refusal): Answer {
  const {status, headers} = refusal
  const plain = status === 401 || status === 403 || status === 429 ? config.cloud.plainErrors : 'same'
  const form = plain === 'same' ? config.cloud.errors : plain
  if (form === 'empty') return {status, headers}
  if (form === 'text') return {status, headers, text: refusal.message}
  if (form === 'spring') {
    const body = {
      timestamp: new Date(now).toISOString(),
      status,
      error: STATUS_CODES[status] ?? 'Error',
      message: refusal.field === undefined ? refusal.message : `${refusal.message} (${refusal.field})`,
      path: `/v1${path}`,
    }
    return {status, headers, json: body}
  }
  const details = refusal.field === undefined ? {} : {details: {field: refusal.field, constraint: refusal.constraint ?? 'invalid'}}
  return {status, headers, json: {error: {code: CODES[refusal.code] ?? refusal.code, message: refusal.message, ...details}}}
}
