/** An answer that is there as a whole. Its text is made when it is asked for: of a large body nobody may. */
import {textOf} from '../base/text-of.ts'
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
      text ??= textOf(body)
      return text
    },
    attempts,
    ...(arrived && {mayHaveArrived: true}),
  }
}
