/**
 * What a stack needs once, however many of our constructs stand in it. It is made by the first of them:
 *
 * - the metadata svcctl reads: `"//": {"svcctl": {"cloud": {…}, "cluster": {…}, "secrets": {…}}}`
 * - the null provider, whose resource our constructs extend, unless the stack has one of its own
 * - the variable `svcctl_only`, whose validation never holds: plain Terraform would otherwise record objects that no
 *   API knows. A variable is checked by plan, apply, refresh and destroy alike, and not by validate; a precondition of a
 *   resource is passed over by destroy, which would empty the ledger. Who reads the stack ignores this variable
 * - a local backend with a relative path, unless the stack has a backend of its own
 * - the check that no two constructs share an address, which Terraform JSON would merge without a word
 */

import {Resource} from '@cdktf/provider-null/lib/resource/index.js'
import {
  LocalBackend,
  TerraformBackend,
  TerraformElement,
  TerraformOutput,
  TerraformResource,
  TerraformStack,
  TerraformVariable,
} from 'cdktf'
import type {IConstruct} from 'constructs'
import type {Api} from '../../base/apis.ts'
import {CHECK_VARIABLE} from '../language/check-variable.ts'
import {ConstructError} from './construct-error.ts'
import {DefaultNullProvider} from './default-null-provider.ts'
import {madeAt} from './source-line.ts'

export const RESOURCE_TYPE = Resource.tfResourceType

/** Two constructs of a stack that Terraform would take for one, or an id it would refuse. */
export class ConstructIdError extends ConstructError {
  constructor(construct: IConstruct, problem: string, suggestion: string) {
    super(construct.node.path, {code: 'E_CONSTRUCT_ID', problem, suggestion, place: madeAt(construct)})
  }
}

/** What may be said once in a stack was said twice. */
export class StackOptionError extends ConstructError {
  constructor(construct: IConstruct, problem: string, suggestion: string) {
    super(construct.node.path, {code: 'E_STACK_OPTION', problem, suggestion, place: madeAt(construct)})
  }
}

export interface TargetOptions {
  readonly profile?: string
  readonly account?: string
}

interface SecretOptions {
  readonly version: string | undefined
  readonly description: string | undefined
}

const companions = new WeakMap<TerraformStack, StackCompanion>()
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/
/** Terraform's own words in a module block. */
const RESERVED_VARIABLES = ['source', 'version', 'providers', 'count', 'for_each', 'lifecycle', 'depends_on', 'locals', CHECK_VARIABLE]

export class StackCompanion extends TerraformElement {
  readonly #targets: {cloud?: TargetOptions; cluster?: TargetOptions} = {}
  readonly #secrets = new Map<string, SecretOptions & {readonly token: string}>()
  readonly #resources = new Map<string, IConstruct>()
  readonly #names = new Map<IConstruct, string>()

  /** The companion of the stack that `scope` stands in. */
  static of(scope: IConstruct): StackCompanion {
    const stack: object = TerraformStack.of(scope)
    if (!(stack instanceof TerraformStack)) {
      // cdktf knows its own by a symbol that cdktn shares; their elements do not work in each other's stacks.
      throw new StackOptionError(
        scope,
        'the stack is made by another copy of cdktf, or by cdktn, than the one svcctl is installed with',
        'Install one copy for both; for stacks of cdktn import from "svcctl/cdktn", for stacks of cdktf from "svcctl".',
      )
    }
    const companion = companions.get(stack) ?? new StackCompanion(stack)
    companions.set(stack, companion)
    return companion
  }

  private constructor(stack: TerraformStack) {
    super(stack, 'svcctl:stack')
    stack.node.addValidation({validate: () => sharedAddresses(stack)})
    // The backend is decided when the stack is synthesized, because the program may still add one of its own until then.
    stack.ensureBackendExists = () =>
      stack.node
        .findAll()
        .filter(TerraformBackend.isBackend)
        .find(it => it.cdktfStack === stack) ?? new LocalBackend(stack, {path: `terraform.${stack.node.id}.tfstate`})
  }

  target(scope: IConstruct, api: Api, options: TargetOptions): void {
    if (this.#targets[api]) {
      throw new StackOptionError(
        scope,
        `stack ${this.cdktfStack.node.id} already has a target for the ${api} API`,
        'Keep one per stack; objects of another deployment or account belong in a stack of their own.',
      )
    }
    this.#targets[api] = options
  }

  /** The value of a secret's variable; asked for again by the same name it is the same variable. */
  secret(scope: IConstruct, name: string, {version, description}: SecretOptions): string {
    const known = this.#secrets.get(name)
    if (known) {
      if (known.version === version && known.description === description) return known.token
      throw new StackOptionError(
        scope,
        `secret ${JSON.stringify(name)} is declared twice in stack ${this.cdktfStack.node.id}, with another version or description`,
        'Declare it once and pass the value on, or give both the same options.',
      )
    }
    if (!NAME.test(name) || RESERVED_VARIABLES.includes(name)) {
      throw new ConstructIdError(
        scope,
        `${JSON.stringify(name)} cannot be the name of a secret`,
        `Use letters, digits and underscores, beginning with a letter, and none of ${RESERVED_VARIABLES.join(', ')}: it becomes the variable TF_VAR_<name>.`,
      )
    }
    const variable = new TerraformVariable(this, name, {
      type: 'string',
      sensitive: true,
      ...(description === undefined ? {} : {description}),
    })
    // cdktf would hash the construct path into the name, and TF_VAR_<name> could not be guessed.
    variable.overrideLogicalId(name)
    const token = variable.stringValue
    this.#secrets.set(name, {version, description, token})
    return token
  }

  /**
   * Keeps a resource's name for it; the one it had before is free again.
   *
   * @throws ConstructIdError when Terraform would refuse the name or another construct has it
   */
  claim(resource: IConstruct, name: string): void {
    if (!NAME.test(name)) {
      throw new ConstructIdError(
        resource,
        `its address would be ${RESOURCE_TYPE}.${name}, which Terraform refuses`,
        'Use an id of letters, digits, underscores and dashes that begins with a letter.',
      )
    }
    const holder = this.#resources.get(name)
    if (holder !== undefined && holder !== resource) throw sharedAddress(resource, holder.node.path, `${RESOURCE_TYPE}.${name}`)
    if (this.#resources.size === 0) new DefaultNullProvider(this, 'provider:null')
    const before = this.#names.get(resource)
    if (before !== undefined) this.#resources.delete(before)
    this.#names.set(resource, name)
    this.#resources.set(name, resource)
  }

  override toTerraform(): unknown {
    const secrets = [...this.#secrets].flatMap(([name, {version}]) => (version === undefined ? [] : [[name, {version}] as const]))
    return {
      '//': {svcctl: {...this.#targets, ...(secrets.length > 0 ? {secrets: Object.fromEntries(secrets)} : {})}},
      variable: {
        [CHECK_VARIABLE]: {
          type: 'string',
          default: 'never set this',
          description: 'Stops plain Terraform, which cannot reach these objects; svcctl passes it over.',
          validation: [
            {
              condition: `\${var.${CHECK_VARIABLE} != var.${CHECK_VARIABLE}}`,
              error_message: 'Stop: this stack is applied with svcctl. Run "svcctl plan" instead.',
            },
          ],
        },
      },
    }
  }

  override toHclTerraform(): never {
    throw new StackOptionError(
      this.cdktfStack,
      'svcctl reads stacks as JSON, and they were to be written as HCL',
      'Leave hclOutput and SYNTH_HCL_OUTPUT unset.',
    )
  }
}

const sharedAddress = (construct: IConstruct, other: string, address: string): ConstructIdError =>
  new ConstructIdError(
    construct,
    `it has the address ${address}, which ${other} has too: Terraform would merge the two into one`,
    'Give one of them another id (dots and other signs do not count), or move it into a construct of its own.',
  )

/** At synthesis every logical id is final, also of resources that are not ours. */
function sharedAddresses(stack: TerraformStack): string[] {
  const holders = new Map<string, string>()
  const problems: string[] = []
  for (const element of stack.node.findAll()) {
    const address = addressOf(element)
    if (address === undefined || TerraformStack.of(element) !== stack) continue
    const holder = holders.get(address)
    if (holder === undefined) holders.set(address, element.node.path)
    else problems.push(sharedAddress(element, holder, address).message)
  }
  return problems
}

function addressOf(element: IConstruct): string | undefined {
  if (TerraformResource.isTerraformResource(element)) return `${element.terraformResourceType}.${element.friendlyUniqueId}`
  if (element instanceof TerraformVariable) return `var.${element.friendlyUniqueId}`
  // Of references between stacks too: cdktf drops the quotes of null_resource.a["b"].id, and null_resource.ab.id is the same.
  return TerraformOutput.isTerraformOutput(element) ? `output.${element.friendlyUniqueId}` : undefined
}
