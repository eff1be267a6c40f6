/** A server that repeats what it was sent: in front of a service, it answers users that have a password as it is told. */
import {createServer, request as forward, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

/** `words`: as the id of a task, and as the code of its failure. */
export type Echo = 'nothing' | 'refusal' | 'page' | 'task' | 'words' | 'rows'

export interface EchoServer {
  readonly url: string
  how: Echo
  close(): Promise<void>
}

/** Every form in which a server may show a text. */
export const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  new URLSearchParams({a: secret}).toString().slice(2),
  Buffer.from(secret).toString('base64'),
  secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
]

/** @param target - base address of the service behind it */
export async function echoServer(target: string): Promise<EchoServer> {
  let secret = ''
  const state: {how: Echo} = {how: 'nothing'}
  const server = createServer((asked, answer) => void handle(asked, answer))
  const handle = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    let body = ''
    for await (const part of asked.setEncoding('utf8')) body += String(part)
    const path = asked.url ?? ''
    const json = (status: number, document: unknown) => {
      answer.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(document))
    }
    if (path.includes('/tasks/echo')) {
      const description = `the password ${formsOf(secret).join(' or ')} is weak`
      json(200, {taskId: 'echo', status: 'processing-error', response: {error: {type: 'WEAK', status: '400', description}}})
      return
    }
    if (state.how === 'words' && secret !== '' && path.endsWith(`/tasks/${encodeURIComponent(secret)}`)) {
      json(200, {taskId: secret, status: 'processing-error', response: {error: {type: secret, status: secret, description: secret}}})
      return
    }
    if (asked.method === 'POST' && path.endsWith('/users')) {
      secret = (JSON.parse(body) as {password: string}).password
      const said = formsOf(secret).join(' or ')
      if (state.how === 'refusal')
        return json(400, {error: {code: 'WEAK', message: `the password ${said} is weak`, details: {field: said}}})
      if (state.how === 'page') {
        answer.writeHead(400, {'content-type': 'text/html'}).end(`<html><body>${said}</body></html>`)
        return
      }
      if (state.how === 'task') return json(202, {taskId: 'echo', status: 'received'})
      if (state.how === 'words') return json(202, {taskId: secret, status: 'received'})
    }
    const onward = forward(`${new URL(target).origin}${path}`, {method: asked.method, headers: asked.headers}, got => {
      let text = ''
      got
        .setEncoding('utf8')
        .on('data', part => {
          text += part
        })
        .on('end', () => {
          if (state.how === 'rows' && asked.method === 'GET')
            text = text.replace(/"role":\s*"all-keys"/g, `"role":${JSON.stringify(`was ${secret}`).replaceAll('$', '$$')}`)
          const {'content-length': _, 'transfer-encoding': __, ...headers} = got.headers
          answer.writeHead(got.statusCode ?? 500, headers).end(text)
        })
    })
    onward.end(body)
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname}`,
    get how() {
      return state.how
    },
    set how(how) {
      state.how = how
    },
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}
