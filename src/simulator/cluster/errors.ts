/** The cluster API's error bodies (wire facts, "Cluster API"). */
import type {Answer, Exchange, Refusal} from '../base/answer.ts'

export function clusterError({config}: Exchange, {status, code, message, headers}: Refusal): Answer {
  switch (config.cluster.errors) {
    case 'code':
      return {status, headers, json: {error_code: code, description: message}}
    case 'message':
      return {status, headers, json: {message, error_code: code}}
    case 'html':
      return {
        status,
        headers: {...headers, 'content-type': 'text/html'},
        text: `<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`,
      }
    case 'empty':
      return {status, headers}
  }
}
