/** Exported objects as HCL for the vendor's provider: the way out. */
import type {Json, JsonObject} from '../base/json.ts'
import {wordOf} from '../base/word-of.ts'
import {idsIn} from '../engine/model/kind.ts'
import {Expression, type HclBlock, type HclValue, hclFile} from './hcl.ts'
import type {ExportedObject, ExportedStack, ExportModel} from './model.ts'
import {byRemoteId} from './natural-order.ts'
import {ACL_ROLE, ACL_RULE, ACL_USER, PROVIDER, RESOURCES} from './rediscloud.ts'
import {plainWord} from './words.ts'

/** The files by their names. `acl.tf.example` is not loaded by Terraform. */
export function terraformFiles({stacks: all}: ExportModel, hides: (value: Json) => Json): ReadonlyMap<string, string> {
  const stacks = all.map(stack => ({
    ...stack,
    objects: stack.objects.map(it => ({...it, live: {...it.live, fields: hides(it.live.fields) as JsonObject}})),
  }))
  const names = localNames(stacks)
  const variables = new Variables()
  const imports: HclBlock[] = []
  const files = new Map<string, string>([['versions.tf', hclFile(versions())]])
  const taken = new Set(['versions', 'imports', 'variables'])
  for (const stack of stacks) {
    const blocks = stack.objects.flatMap(it => resource(stack, it, {names, variables, imports}))
    if (blocks.length > 0) files.set(`${taken.has(stack.id) ? `subscription_${stack.id}` : stack.id}.tf`, hclFile(blocks))
  }
  files.set('imports.tf', hclFile(imports))
  files.set('variables.tf', variables.file())
  files.set('acl.tf.example', aclExample(stacks, names))
  return files
}

/** What has no resource in the provider. */
export const isLeftOutOfTerraform = ({kind}: ExportedObject): boolean => RESOURCES[kind.name] === undefined

function versions(): readonly HclBlock[] {
  const provider = {type: 'required_providers', attributes: [['rediscloud', {...PROVIDER}] as const]}
  return [
    {type: 'terraform', attributes: [['required_version', '>= 1.5']], blocks: [provider]},
    {type: 'provider', labels: ['rediscloud'], attributes: []},
  ]
}

/** By remote path. */
type LocalNames = ReadonlyMap<string, string>

/**
 * What resources are called, each otherwise than others of its type: subscriptions may stand in one stack, and
 * `shop_eu_cache` be one of `shop` or of `shop_eu`. Then the greater remote id has its id behind it.
 */
function localNames(stacks: readonly ExportedStack[]): LocalNames {
  const wished = stacks.flatMap(({id: stack, objects}) => {
    const isOnly = objects.filter(it => it.parent === undefined).length === 1
    return objects.map(({remoteId, kind, id, parent}) => ({
      remoteId,
      type: RESOURCES[kind.name]?.type ?? '',
      name: parent === undefined && isOnly ? stack : `${stack}_${id}`,
    }))
  })
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const {remoteId, type, name} of wished.sort((a, b) => byRemoteId(a.remoteId, b.remoteId))) {
    let free = name
    while (taken.has(`${type} ${free}`)) free += `_${plainWord(remoteId.slice(remoteId.lastIndexOf('/') + 1))}`
    taken.add(`${type} ${free}`)
    names.set(remoteId, free)
  }
  return names
}

interface Written {
  readonly names: LocalNames
  readonly variables: Variables
  readonly imports: HclBlock[]
}

function resource(stack: ExportedStack, object: ExportedObject, {names, variables, imports}: Written): readonly HclBlock[] {
  const known = RESOURCES[object.kind.name]
  if (known === undefined) return []
  const {type, importId, body} = known
  const name = names.get(object.remoteId) ?? ''
  const ids = idsIn(object.kind, object.remoteId) ?? []
  imports.push({
    type: 'import',
    attributes: [
      ['to', new Expression(`${type}.${name}`)],
      ['id', importId(ids)],
    ],
  })
  const own = body(object, (attribute, as) => variables.ask(`${name}_${attribute}`, as))
  return [{type: 'resource', labels: [type, name], ...own, attributes: [...parentAttribute(stack, object, names, ids), ...own.attributes]}]
}

function parentAttribute(
  stack: ExportedStack,
  {parent}: ExportedObject,
  names: LocalNames,
  ids: readonly string[],
): readonly (readonly [string, HclValue])[] {
  if (parent === undefined) return []
  const declared = stack.objects.find(it => it.remoteId === parent.remoteId)
  const type = declared && RESOURCES[declared.kind.name]?.type
  return [
    ['subscription_id', declared && type !== undefined ? new Expression(`${type}.${names.get(declared.remoteId)}.id`) : (ids[0] ?? '')],
  ]
}

class Variables {
  readonly #asked = new Map<string, 'string' | 'number' | 'secret'>()

  ask(name: string, type: 'string' | 'number' | 'secret'): HclValue {
    this.#asked.set(name, type)
    return new Expression(`var.${name}`)
  }

  file(): string {
    return hclFile(
      [...this.#asked]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, type]) => ({
          type: 'variable',
          labels: [name],
          attributes: [
            ['type', new Expression(type === 'number' ? 'number' : 'string')],
            ...(type === 'secret' ? [['sensitive', true] as const] : []),
          ],
        })),
    )
  }
}

const ACL_NOTE = [
  '# In this provider rules, roles and users belong to the account, and a role says in which databases a rule holds.',
  '# Where these come from, each database has its own. Terraform does not load this file: take from it what is meant.',
  '',
]

function aclExample(stacks: readonly ExportedStack[], names: LocalNames): string {
  const variables = new Variables()
  const blocks = stacks.flatMap(stack => stack.objects.flatMap(it => aclBlocks(stack, it, {names, variables})))
  return [...ACL_NOTE, hclFile(blocks), ...(blocks.length > 0 ? [variables.file()] : [])].join('\n').trimEnd().concat('\n')
}

function aclBlocks(stack: ExportedStack, object: ExportedObject, {names, variables}: Omit<Written, 'imports'>): readonly HclBlock[] {
  const {kind, id, spec, parent, references} = object
  const name = `${stack.id}_${id}`
  if (kind.name === ACL_RULE.kind) {
    const database = stack.objects.find(it => it.remoteId === parent?.remoteId)
    const subscription = database && stack.objects.find(it => it.remoteId === database.parent?.remoteId)
    const idOf = (it: ExportedObject | undefined, attribute: string): HclValue => {
      const type = it && RESOURCES[it.kind.name]?.type
      return it && type !== undefined ? new Expression(`${type}.${names.get(it.remoteId)}.${attribute}`) : ''
    }
    return [
      {
        type: 'resource',
        labels: [ACL_RULE.type, name],
        attributes: [
          ['name', name],
          ['rule', wordOf(spec.rule ?? '')],
        ],
      },
      {
        type: 'resource',
        labels: [ACL_ROLE.type, name],
        attributes: [['name', name]],
        blocks: [
          {
            type: 'rule',
            attributes: [['name', new Expression(`${ACL_RULE.type}.${name}.name`)]],
            blocks: [
              {
                type: 'database',
                attributes: [
                  ['subscription', idOf(subscription, 'id')],
                  ['database', idOf(database, 'db_id')],
                ],
              },
            ],
          },
        ],
      },
    ]
  }
  if (kind.name !== ACL_USER.kind) return []
  const rule = references.role
  const role: HclValue = rule === undefined ? wordOf(spec.role ?? '') : new Expression(`${ACL_ROLE.type}.${stack.id}_${rule}.name`)
  return [
    {
      type: 'resource',
      labels: [ACL_USER.type, name],
      attributes: [
        ['name', name],
        ['role', role],
        ['password', variables.ask(`${name}_password`, 'secret')],
      ],
    },
  ]
}
