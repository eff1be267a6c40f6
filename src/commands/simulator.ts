import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {asJson} from '../base/json.ts'
import {Redactor} from '../base/redact.ts'
import {shellWord} from '../base/shell-word.ts'
import {BaseCommand} from '../cli/base-command.ts'
import {wholeNumberFlag} from '../cli/parse/flags.ts'
import {Flags} from '../cli/parse/oclif.ts'
import type {Context} from '../cli/shell/context.ts'

export default class SimulatorCommand extends BaseCommand {
  static override summary = 'serve both APIs on this machine, to try everything out'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 8080 --tls --output json',
    '<%= config.bin %> <%= command.id %> --config simulator.json',
  ]
  static override description =
    'The control address makes the services misbehave while they run. Answer 503 twice to every POST: curl -X POST CONTROL/faults -d \'{"match": {"method": "POST"}, "times": 2, "action": {"type": "status", "status": 503}}\'. GET CONTROL/faults lists the faults, DELETE CONTROL/faults removes them.\n'
  static override flags = {
    port: wholeNumberFlag({summary: 'first of five ports in a row; 0 takes free ones', default: 0, min: 0, max: 65_531}),
    tls: Flags.boolean({summary: 'serve the cluster over HTTPS with a self-signed certificate'}),
    config: Flags.string({summary: 'JSON file with the behaviour of the services', helpValue: '<file>'}),
    seed: wholeNumberFlag({summary: 'seed of the random numbers'}),
  }

  /** Its keys open nothing but itself, and are there to be read: also where the environment has the same ones already. */
  constructor(argv: string[], context: Context, id: string) {
    super(argv, {...context, redactor: new Redactor()}, id)
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(SimulatorCommand)
    const {createSimulator, readSimulatorConfig, readyDocument, serveSimulator} = await import('../simulator/index.ts')
    const simulator = createSimulator({
      clock: this.context.clock,
      ...(flags.seed === undefined ? {} : {seed: flags.seed}),
      ...(flags.config === undefined ? {} : {config: readSimulatorConfig(flags.config)}),
    })
    const folder = flags.tls ? mkdtempSync(join(tmpdir(), 'svcctl-simulator-')) : undefined
    try {
      const served = await serveSimulator(simulator, {
        port: flags.port,
        tls: flags.tls,
        ...(folder === undefined ? {} : {certificateFile: join(folder, 'ca.pem')}),
      })
      const document = readyDocument(served, simulator.config)
      // JSON is one line: whoever starts it waits for a whole one.
      if (this.format === 'json') await this.printNext(asJson(document))
      else await this.print(asJson(document), {text: () => `${exportsOf(document.env)}\n# control: ${document.control}`, isDocument: true})
      await stopped()
      await served.close()
    } finally {
      if (folder !== undefined) rmSync(folder, {recursive: true, force: true})
    }
  }
}

const exportsOf = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}`)
    .join('\n')

const stopped = (): Promise<void> =>
  new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
