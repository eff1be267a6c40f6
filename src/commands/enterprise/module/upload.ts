import {resolve} from 'node:path'
import {UnknownOutcomeError} from '../../../backends/api/api-errors.ts'
import {rowId} from '../../../backends/api/list-rows.ts'
import {clusterVoice} from '../../../backends/cluster/errors.ts'
import {randomHex} from '../../../base/random.ts'
import {formatSizeBytes} from '../../../base/units.ts'
import {waitForTask} from '../../../cli/api-run.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {Flags} from '../../../cli/parse/oclif.ts'
import {ServerCommand} from '../../../cli/server-command.ts'
import {WriteUnknownError} from '../../../cli/write-result.ts'
import {startedBy} from '../../../passthrough/follow.ts'
import {checkModuleFile, uploadModule} from '../../../passthrough/upload-module.ts'

export default class ModuleUploadCommand extends ServerCommand {
  static override summary = 'upload a module to the cluster'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --file search.zip',
    '<%= config.bin %> <%= command.id %> --file search.zip --wait --output json',
  ]
  static override flags = {
    file: Flags.string({summary: 'zip archive of the module', helpValue: '<zip>', required: true}),
    wait: Flags.boolean({summary: 'wait until the cluster has installed it'}),
    ...clusterFlags,
  }

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ModuleUploadCommand)
    const file = await checkModuleFile(resolve(this.context.cwd, flags.file))
    await this.withCluster(flags, async api => {
      const voice = clusterVoice()
      const write = {what: `the upload of ${flags.file}`, look: 'svcctl enterprise module list'}
      const module = await this.writing(write, ({beforeSend, onRefused}) =>
        uploadModule({
          client: api.client,
          voice,
          file,
          boundary: `svcctl-${randomHex(this.context.random, 16)}`,
          onPath: path => this.logger.info(`POST ${path}: ${formatSizeBytes(file.sizeBytes)} of ${flags.file}`),
          beforeSend,
          onRefused,
          look: write.look,
        }).catch(error => {
          throw error instanceof UnknownOutcomeError ? new WriteUnknownError(error, write.look) : error
        }),
      )
      const started = flags.wait ? startedBy({deployment: 'enterprise', method: 'POST', path: '/v1/modules'}, module) : undefined
      if (started !== undefined) await waitForTask(this.context, api, voice, started)
      const id = rowId(module, '/v1/modules')
      await this.print(module, {text: () => `uploaded ${flags.file}${id === undefined ? '' : ` as module ${id}`}`})
    })
  }
}
