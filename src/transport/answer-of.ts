/** An answer that is there as a whole. Its text is made when it is asked for: of a large body nobody may. */
import type {ApiAnswer} from './api-client.ts'
import type {HttpResponse} from './http.ts'

/** @param arrived - the server may have done what an earlier try asked for */
export function answerOf({status, headers, body}: HttpResponse, {attempts, arrived}: {attempts: number; arrived: boolean}): ApiAnswer {
  let text: string | undefined
  return {
    status,
    headers,
    bytes: body,
    get text() {
      text ??= Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
      return text
    },
    attempts,
    ...(arrived && {mayHaveArrived: true}),
  }
}
