import {rowsIn} from '../backends/api/list-rows.ts'
import type {Json} from '../base/json.ts'
import {type ExactJson, stringifyExactJson} from '../base/lossless-json.ts'
import {secretsInDocument, secretsInQuery, secretsInText} from '../base/secret-fields.ts'
import {ApiRun} from '../cli/api-run.ts'
import {apiFlags, checkApiFlags} from '../cli/parse/api-flags.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Args} from '../cli/parse/oclif.ts'
import {ServerCommand} from '../cli/server-command.ts'
import {RowStream} from '../cli/show/row-stream.ts'
import type {Connection} from '../config/connection.ts'
import {headText, lookCommand, shownHeaders} from '../passthrough/raw-answer.ts'
import {buildRawRequest, type RawRequest} from '../passthrough/raw-request.ts'
import {checkMethod, type RequestBody, readRequestBody} from '../passthrough/request-body.ts'
import {secretsInHeaders} from '../passthrough/request-headers.ts'
import {curlCommand, requestDocument, requestText, shownRequest} from '../passthrough/show-request.ts'
import {tableOf} from '../report/table.ts'
import {visible} from '../report/terminal-text.ts'
import {type OpenedApi, openCloud, openCluster} from '../run/workspace/open-api.ts'
import type {ApiAnswer} from '../transport/api-client.ts'

const word = (description: string) => Args.string({description, required: true, ignoreStdin: true})

export default class ApiCommand extends ServerCommand {
  static override summary = 'send one request to either API, and print the answer'
  static override description =
    'The path begins with "/" and is added to the address of the API; an enterprise path without a version gets /v1.\n' +
    'Numbers keep every digit. Secrets in the answer are masked, except with --raw. A delete does not ask for confirmation.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> cloud get /subscriptions --paginate --output table',
    '<%= config.bin %> <%= command.id %> cloud post /subscriptions/12/databases --data @database.json --wait',
    "<%= config.bin %> <%= command.id %> enterprise get /v1/bdbs --query-params 'fields=uid,name' --query '[].name'",
    '<%= config.bin %> <%= command.id %> enterprise put /v1/bdbs/1 --data \'{"memory_size": 1073741824}\' --curl',
  ]
  static override args = {
    deployment: word('cloud or enterprise'),
    method: word('get, post, put, patch or delete'),
    path: word('path of the request, begins with /'),
  }
  static override flags = {...apiFlags, ...bothApisFlags}

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(ApiCommand)
    checkApiFlags(flags)
    const request = buildRawRequest({...args, queryParams: flags['query-params'], headers: flags.headers})
    this.#hide([...secretsInHeaders(request.headers), ...secretsInQuery(request.path.split('?').slice(1).join('?'))])
    if (request.addedVersion !== undefined) this.logger.info(`the path has no version: ${request.addedVersion} added`)
    checkMethod(request.method, {paginate: flags.paginate, data: flags.data})
    const body = flags.data === undefined ? undefined : await this.#body(flags.data, request)
    const connection = await this.connect(request.deployment === 'cloud' ? 'cloud' : 'cluster', flags)
    if (flags.curl || flags['dry-run']) return this.#show(request, body, connection, flags.curl)
    if (request.method !== 'GET') await this.#warn(request, connection)
    const open = async (): Promise<OpenedApi<unknown>> =>
      connection.api === 'cloud' ? openCloud(this.context, connection) : openCluster(this.context, connection)
    await this.closing(open, api => this.#send(new ApiRun(this.context, api, request), request, body, flags))
    return undefined
  }

  /** People on call know what they do; that somebody wants nothing changed they may not know. */
  async #warn({method, path}: RawRequest, {api, address, keyHash, settings: {controls}}: Connection): Promise<void> {
    const {warningsOf} = await import('../run/workspace/raw-write.ts')
    const account = {api, address, keyHash, ...(controls === undefined ? {} : {controls})}
    for (const text of await warningsOf(this.context, {account, method, path})) this.logger.warn(text)
  }

  async #send(run: ApiRun, request: RawRequest, body: RequestBody | undefined, flags: SendFlags): Promise<void> {
    const head = async (answer: Parameters<typeof headText>[0]) => {
      if (flags.include && !this.forPrograms) await this.write(`${visible(this.context.redactor.text(headText(answer)))}\n\n`)
    }
    if (flags.paginate) return this.#pages(run)
    if (flags.raw && request.method === 'GET')
      return run.stream(bytes => this.write(bytes), head, {timeoutMs: flags['request-timeout'], maxBytes: flags['max-size']})
    const answer = await this.#answered(run, request, body)
    await head(answer)
    if (flags.raw) {
      await this.write(answer.bytes)
      return run.refuseFailure(answer)
    }
    const shown = this.#isShownAsItCame(flags) ? run.shownJson(answer) : undefined
    if (shown !== undefined) return this.printText(shown)
    const document = flags.wait ? await run.wait(run.document(answer)) : run.document(answer)
    const {status, headers} = answer
    await this.#answer(
      flags.include && this.forPrograms ? {status, headers: shownHeaders(headers), body: document ?? null} : document,
      request,
    )
  }

  /** Indented and without its secrets, and else as the server sent it: neither filtered nor made into another form. */
  #isShownAsItCame({wait, include}: SendFlags): boolean {
    return !wait && !this.filtering && (this.format === 'text' || (this.format === 'json' && !include))
  }

  #answered(run: ApiRun, request: RawRequest, body: RequestBody | undefined): Promise<ApiAnswer> {
    if (request.method === 'GET') return run.send(body)
    const what = `${request.method} ${request.path.split('?')[0]}`
    return this.writing({what, look: lookCommand(request, request.deployment)}, options => run.send(body, options))
  }

  async #answer(document: ExactJson | undefined, {path}: RawRequest): Promise<void> {
    await this.print(document ?? null, {
      text: shown => (document === undefined ? '' : textOf(shown())),
      isDocument: this.format === 'text',
      table: widest => (document === undefined ? '' : tableOf(rowsIn(document as Json, path) ?? document, widest)),
    })
  }

  async #pages(run: ApiRun): Promise<void> {
    // A document must be whole, also when the list breaks off in the middle; text is written as the rows come.
    if (this.format !== 'text' || this.filtering) {
      const rows: ExactJson[] = []
      await run.pages(async row => void rows.push(row))
      return this.print(rows)
    }
    const stream = new RowStream(text => this.write(text, true))
    await run.pages(row => stream.row(this.context.redactor.value(row)))
    await stream.end()
  }

  async #show(request: RawRequest, body: RequestBody | undefined, connection: Connection, asCurl: boolean): Promise<undefined> {
    const shown = shownRequest(request, body, connection)
    const command = curlCommand(request, body, connection)
    if (asCurl) await this.print({curl: command}, {text: () => command})
    else await this.print(requestDocument(shown), {text: () => requestText(shown)})
  }

  async #body(data: string, {headers}: RawRequest): Promise<RequestBody> {
    const body = await readRequestBody(data, {cwd: this.context.cwd, stdin: this.context.streams.stdin}, headers['content-type'])
    this.#hide(
      body.json === undefined ? secretsInText(Buffer.from(body.bytes.subarray(0, LOOKED_AT)).toString()) : secretsInDocument(body.json),
    )
    return body
  }

  #hide(secrets: readonly string[]): void {
    for (const secret of secrets) this.context.redactor.register(secret)
  }
}

/** Of a body that is no JSON: what has more is no form that somebody filled in. */
const LOOKED_AT = 1_048_576

const textOf = (shown: ExactJson): string => (typeof shown === 'string' ? shown : stringifyExactJson(shown, 2))

interface SendFlags {
  readonly paginate: boolean
  readonly raw: boolean
  readonly wait: boolean
  readonly include: boolean
  readonly 'request-timeout'?: number | undefined
  readonly 'max-size'?: number | undefined
}
