import {AppError, EXIT} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import {nearest} from '../base/nearest.ts'
import {Args} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {visibleLine, visibleText} from '../report/terminal-text.ts'

/** No stack has an output of this name. */
class UnknownOutputError extends AppError {
  constructor(name: string, known: readonly string[], secret: readonly string[]) {
    if (secret.includes(name)) {
      super(`the value of the output ${JSON.stringify(name)} is secret, and no ledger has it`, {
        code: 'E_SECRET_OUTPUT',
        exit: EXIT.notFound,
        suggestions: ['Read it where it comes from: the variable it is made of.'],
      })
      return
    }
    const near = nearest(name, known)
    super(`there is no output ${JSON.stringify(name)}`, {
      code: 'E_UNKNOWN_OUTPUT',
      exit: EXIT.notFound,
      suggestions: [
        ...(near === undefined ? [] : [`Did you mean ${near}?`]),
        known.length === 0 ? 'Apply the stack first: outputs are recorded by svcctl apply.' : `The outputs are: ${known.join(', ')}.`,
      ],
    })
  }
}

export default class OutputCommand extends ReadingStackCommand {
  static override summary = 'print the outputs that the last apply recorded'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> endpoint --stack shop --output json',
  ]
  static override args = {name: Args.string({description: 'one output', ignoreStdin: true})}
  static override flags = {...stackFlags, ...stateFlag}

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(OutputCommand)
    const {loadOutputs} = await import('../run/ledgers/outputs.ts')
    const loaded = await this.readDeclarations(flags, 'validate')
    const outputs = await loadOutputs(this.context, loaded.stacks)
    const several = outputs.length > 1
    const named = outputs.flatMap(({stack, outputs: own}) => Object.entries(own).map(([name, output]) => ({stack, name, ...output})))
    const unsaid = outputs.flatMap(({stack, secret}) => secret.map(name => ({stack, name, value: SECRET, sensitive: true})))
    if (args.name !== undefined) {
      const found = named.filter(it => it.name === args.name || `${it.stack}:${it.name}` === args.name)
      const [only] = found
      if (only === undefined)
        throw new UnknownOutputError(
          args.name,
          named.map(it => it.name),
          outputs.flatMap(it => it.secret),
        )
      await this.print(only.value, {text: () => visibleText(textOf(only.value))})
      return
    }
    const listed = [...named, ...unsaid]
    const ofStack = (stack: string) => listed.filter(it => it.stack === stack).map(({name, value, sensitive}) => [name, {value, sensitive}])
    const document = Object.fromEntries(outputs.map(({stack}) => [stack, Object.fromEntries(ofStack(stack))]))
    const [first] = Object.values(document)
    await this.print(several ? document : (first ?? {}), {
      text: () =>
        listed
          .map(it => visibleLine(`${several ? `${it.stack}:` : ''}${it.name} = ${it.sensitive ? '(sensitive)' : textOf(it.value)}`))
          .join('\n'),
    })
  }
}

const SECRET: Json = {secret: true}

/** What the server said is not painted by us, and in a list its second line is no output. */
const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
