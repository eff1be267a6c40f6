/** What to do next when an API refuses a request that a person wrote by hand: there is no stack to correct. */
import type {ErrorVoice} from '../backends/api/api-errors.ts'
import {cloudVoice} from '../backends/cloud/errors.ts'
import {clusterVoice} from '../backends/cluster/errors.ts'
import type {RawRequest} from './raw-request.ts'

export function rawVoice(
  {deployment, path, method}: Pick<RawRequest, 'deployment' | 'path'> & Partial<Pick<RawRequest, 'method'>>,
  credentialSource?: string,
): ErrorVoice {
  const voice = deployment === 'cloud' ? cloudVoice(credentialSource) : clusterVoice(credentialSource)
  const doubled = deployment === 'cloud' && /^\/v\d+(\/|$)/.test(path)
  return {
    ...voice,
    fieldAdvice: (field, because) =>
      method === 'GET' || method === 'DELETE'
        ? `Correct "${field}" in the query (--query-params)${because}, then send it again.`
        : `Set "${field}" in the body (--data)${because}, then send it again.`,
    conflictAdvice: [
      deployment === 'cloud'
        ? 'Something is changing this object or its parent: see `svcctl task list`, then send the request again.'
        : 'Something is changing this object: read it until its status is active, then send the request again.',
    ],
    advice: {
      ...voice.advice,
      notFound: [
        ...(doubled ? ['Leave the version away: the address of the cloud API ends in it already.'] : []),
        ...voice.advice.notFound,
      ],
      unreadable: [...voice.advice.unreadable, 'See the bytes as they came: --raw'],
      refused: ['Check the format of the request: the body (--data), the query (--query-params) and the path.'],
    },
  }
}
