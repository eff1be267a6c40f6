import {describe, expect, it} from 'vitest'
import type {RawRequest} from '../../src/passthrough/raw-request.ts'
import type {RequestBody} from '../../src/passthrough/request-body.ts'
import {curlCommand, requestDocument, requestText, shownRequest} from '../../src/passthrough/show-request.ts'

const at = {address: 'https://api.example.com/v1', insecure: false}
const request = (more: Partial<RawRequest> = {}): RawRequest =>
  ({deployment: 'cloud', method: 'POST', path: "/subscriptions?name=o'neil", headers: {'x-token': 'hunter2'}, ...more}) as RawRequest
const body = (json: unknown, from = '--data'): RequestBody => ({bytes: Buffer.from(JSON.stringify(json)), json, from}) as RequestBody

describe('a request that is shown and not sent', () => {
  it('has no secret in its headers nor in its body', () => {
    const shown = shownRequest(request(), body({name: 'a', password: 'hunter2'}), at)
    expect(shown).toMatchObject({method: 'POST', url: "https://api.example.com/v1/subscriptions?name=o'neil"})
    expect(shown.headers['content-type']).toBe('application/json')
    expect(JSON.stringify(requestDocument(shown)) + requestText(shown)).not.toContain('hunter2')
    expect(requestText(shown)).toContain('"name": "a"')
  })

  it('without a body says nothing of one', () => {
    const shown = shownRequest(request({method: 'GET', headers: {}}), undefined, at)
    expect(requestDocument(shown)).toEqual({method: 'GET', url: "https://api.example.com/v1/subscriptions?name=o'neil", headers: {}})
    expect(requestText(shown)).toBe("GET https://api.example.com/v1/subscriptions?name=o'neil")
  })

  it('with a body that is no JSON says how long it is, and where it comes from', () => {
    const raw: RequestBody = {bytes: Buffer.from('hunter2'), from: '@notes.txt'}
    expect(shownRequest(request({headers: {'content-type': 'text/plain'}}), raw, at).body).toBe('7 bytes from @notes.txt')
  })
})

describe('the same request for curl', () => {
  it('has the credentials as variables, and words that a shell reads as they are', () => {
    const command = curlCommand(request(), body({password: 'hunter2'}), at)
    expect(command).toMatch(/^curl --request POST --header "x-api-key: \$SVC_CLOUD_API_KEY" --header "x-api-secret-key: /)
    expect(command).toContain(`'https://api.example.com/v1/subscriptions?name=o'\\''neil'`)
    expect(command).not.toContain('hunter2')
  })

  it('of a cluster says how it is trusted', () => {
    const cluster = request({deployment: 'enterprise', method: 'GET', path: '/v1/nodes', headers: {}})
    expect(curlCommand(cluster, undefined, {...at, insecure: true})).toContain(
      '--user "$SVC_ENTERPRISE_USER:$SVC_ENTERPRISE_PASSWORD" --insecure',
    )
    expect(curlCommand(cluster, undefined, {...at, trust: [{path: 'my ca.pem'}, {path: 'b.pem'}]})).toContain("--cacert 'my ca.pem'")
  })

  it('reads a file and standard input where they are, and not what was in them', () => {
    expect(curlCommand(request(), body({password: 'hunter2'}, '@body.json'), at)).toContain("--data-binary '@body.json'")
    expect(curlCommand(request(), body(1, 'standard input'), at)).toContain("--data-binary '@-'")
    expect(curlCommand(request(), {bytes: Buffer.from('x'), from: '--data'}, at)).toContain("'[not JSON]'")
  })
})
