import {EXIT} from '../base/errors.ts'
import {planOptions} from '../cli/parse/plan-options.ts'
import {planningFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {rehearsalText} from '../report/rehearsal-text.ts'

export default class RehearseCommand extends ReadingStackCommand {
  static override summary = 'run the plan against a copy of the live state, in memory, and show every request it would send'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --stack shop --output json']
  static override flags = planningFlags

  protected async read() {
    const {flags} = await this.parse(RehearseCommand)
    const [{planWorkspace}, {rehearse, rehearsalDocument}] = await Promise.all([
      import('../run/plan/plan.ts'),
      import('../run/apply/rehearse.ts'),
    ])
    const loaded = await this.readDeclarations(flags)
    const {built, rehearsal} = await this.inWorkspace(loaded, flags, 'plan', async workspace => {
      const options = planOptions(flags)
      const built = await planWorkspace(workspace, {options})
      return {built, rehearsal: await rehearse(workspace, built, options)}
    })
    const document = rehearsalDocument(rehearsal, built.plan)
    await this.print(document, {text: () => rehearsalText(rehearsal, built.plan)})
    return rehearsal.again.plan.operations.every(it => it.action === 'no-op' || it.action === 'blocked' || it.held !== undefined)
      ? EXIT.ok
      : EXIT.notConverged
  }
}
