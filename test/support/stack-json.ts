/**
 * Stacks written by hand in their published form (interface.md, "Stack files"), as somebody without cdktf would: a
 * `null_resource` an object, literals in `spec`, expressions hoisted.
 */
import {mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import type {Json, JsonObject} from '../../src/base/json.ts'

export interface ObjectOptions {
  readonly policy?: JsonObject
  readonly lifecycle?: JsonObject
  readonly dependsOn?: readonly string[]
  readonly outputs?: readonly string[]
  readonly forEach?: Json
  /** Expressions by the pointer they stand at: `{'/password': '${var.pw}'}`. */
  readonly expressions?: Readonly<Record<string, string>>
}

/** `${null_resource.<name>.id}` */
export const idOf = (name: string): string => `\${null_resource.${name}.id}`

export class JsonStack {
  readonly name: string
  readonly #objects = new Map<string, JsonObject>()
  readonly #blocks: Record<string, Json> = {}
  #backend: Json
  #metadata: JsonObject | undefined

  constructor(name: string) {
    this.name = name
    this.#backend = {local: {path: `terraform.${name}.tfstate`}}
  }

  add(kind: string, local: string, spec: JsonObject, more: ObjectOptions = {}): this {
    const literal = JSON.stringify(spec).replace(/[$%]\{/g, sign => sign.slice(0, 1) + sign)
    const hoisted = Object.fromEntries(Object.entries(more.expressions ?? {}).map(([pointer, text]) => [`spec${pointer}`, text]))
    this.#objects.set(local, {
      triggers: {
        kind,
        spec: literal,
        ...hoisted,
        ...Object.fromEntries((more.outputs ?? []).map(it => [`out/${it}`, ''])),
        ...(more.policy ? {policy: JSON.stringify(more.policy)} : {}),
      },
      ...(more.lifecycle ? {lifecycle: more.lifecycle} : {}),
      ...(more.forEach === undefined ? {} : {for_each: more.forEach}),
      ...(more.dependsOn ? {depends_on: more.dependsOn.map(it => `null_resource.${it}`)} : {}),
    })
    return this
  }

  subscription(local: string, spec: JsonObject = {}, more: ObjectOptions = {}): this {
    return this.add('cloud.subscription', local, {name: local, ...spec}, more)
  }

  /** @param parent - local name of its subscription, or any expression with `${` in it */
  database(local: string, parent: string, spec: JsonObject = {}, more: ObjectOptions = {}): this {
    const expressions = {'/subscription': parent.includes('${') ? parent : idOf(parent), ...more.expressions}
    return this.add('cloud.database', local, {name: local, memoryLimitInGb: 1, ...spec}, {...more, expressions})
  }

  rule(local: string, database: string, spec: JsonObject = {}): this {
    return this.add(
      'cloud.acl_rule',
      local,
      {name: local, rule: '+@read ~*', ...spec},
      {
        expressions: {'/database': idOf(database)},
      },
    )
  }

  user(local: string, database: string, spec: JsonObject = {}, more: ObjectOptions = {}): this {
    return this.add(
      'cloud.acl_user',
      local,
      {name: local, ...spec},
      {
        ...more,
        expressions: {'/database': idOf(database), ...more.expressions},
      },
    )
  }

  bdb(local: string, spec: JsonObject = {}, more: ObjectOptions = {}): this {
    return this.add('cluster.database', local, {name: local, memory_size: 104_857_600, ...spec}, more)
  }

  remove(...locals: readonly string[]): this {
    for (const local of locals) this.#objects.delete(local)
    return this
  }

  block(key: string, value: Json): this {
    this.#blocks[key] = value
    return this
  }

  backend(value: Json): this {
    this.#backend = value
    return this
  }

  target(value: JsonObject): this {
    this.#metadata = value
    return this
  }

  json(): JsonObject {
    return {
      ...(this.#metadata ? {'//': {svcctl: this.#metadata}} : {}),
      terraform: {required_providers: {null: {source: 'null', version: '3.2.4'}}, backend: this.#backend},
      ...(this.#objects.size === 0 ? {} : {resource: {null_resource: Object.fromEntries(this.#objects)}}),
      ...this.#blocks,
    }
  }
}

export const jsonStack = (name: string): JsonStack => new JsonStack(name)

/** Writes one stack as a plain folder of `*.tf.json`; answers the folder. */
export function saveStack(folder: string, stack: JsonStack): string {
  const target = join(folder, stack.name)
  mkdirSync(target, {recursive: true})
  writeFileSync(join(target, 'cdk.tf.json'), JSON.stringify(stack.json(), null, 2))
  return target
}

/** Writes several stacks as a cdktf.out with its manifest; answers the folder. */
export function saveStacks(folder: string, stacks: readonly JsonStack[]): string {
  const out = join(folder, 'cdktf.out')
  for (const stack of stacks) {
    const target = join(out, 'stacks', stack.name)
    mkdirSync(target, {recursive: true})
    writeFileSync(join(target, 'cdk.tf.json'), JSON.stringify(stack.json(), null, 2))
  }
  const manifest = {
    version: '0.21.0',
    stacks: Object.fromEntries(
      stacks.map(({name}) => [
        name,
        {
          name,
          constructPath: name,
          workingDirectory: `stacks/${name}`,
          synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
          annotations: [],
          dependencies: [],
        },
      ]),
    ),
  }
  writeFileSync(join(out, 'manifest.json'), JSON.stringify(manifest, null, 2))
  return out
}
