/** What holds for one field of a kind: its own rule, what it inherits from those above it, and what the schema knows of it. */
import {z} from 'zod'
import {escapeSegment, parsePointer} from '../../base/pointer.ts'
import {isSecretName} from '../../base/secret-fields.ts'
import type {FieldRule, Kind} from './kind.ts'

/** A place in a spec: a JSON pointer with `*` for list slots. */
export type Pattern = string

export interface EffectiveRule extends FieldRule {
  readonly pattern: Pattern
  /** In the kind's schema. A field that only passes through is not promised to come back. */
  readonly known: boolean
  /** The schema refuses fields it does not name, so what a server adds below is not ours to send. */
  readonly strict: boolean
  /** The rule of a field or, with `*`, of a list slot below; each that a schema may know is worked out once. */
  below(segment: string): EffectiveRule
}

const roots = new WeakMap<Kind, EffectiveRule>()

/** The rule of the whole object; the way to all others. */
export function rootRule(kind: Kind): EffectiveRule {
  const known = roots.get(kind)
  if (known !== undefined) return known
  const rule = effectiveRule(kind, '', kind.spec, {})
  roots.set(kind, rule)
  return rule
}

export const ruleAt = (kind: Kind, pattern: Pattern): EffectiveRule =>
  parsePointer(pattern).reduce((rule, segment) => rule.below(segment), rootRule(kind))

type Inherited = Pick<FieldRule, 'immutable' | 'writeOnly' | 'createOnly' | 'secret' | 'mayBeAbsent' | 'risk'>

function effectiveRule(kind: Kind, pattern: Pattern, schema: z.core.$ZodType | undefined, inherited: Inherited): EffectiveRule {
  const own: FieldRule = {...inherited, ...kind.fields[pattern]}
  const {immutable, writeOnly, createOnly, secret, mayBeAbsent, risk} = own
  const passedOn: Inherited = {
    ...(immutable ? {immutable} : {}),
    ...(writeOnly ? {writeOnly} : {}),
    ...(createOnly ? {createOnly} : {}),
    ...(secret ? {secret} : {}),
    ...(mayBeAbsent ? {mayBeAbsent} : {}),
    ...(risk ? {risk} : {}),
  }
  const children = new Map<string, EffectiveRule>()
  return {
    ...own,
    pattern,
    known: schema !== undefined,
    strict: schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever,
    below(segment) {
      const known = children.get(segment)
      if (known !== undefined) return known
      // No kind knows every field an API may have: what is called like a secret is one.
      const named = segment !== '*' && isSecretName(segment) ? {...passedOn, secret: true} : passedOn
      const rule = effectiveRule(kind, `${pattern}/${escapeSegment(segment)}`, schemaBelow(schema, segment), named)
      // As many as anybody names, and as deep: below what no schema knows none is kept.
      if (schema !== undefined) children.set(segment, rule)
      return rule
    },
  }
}

function schemaBelow(schema: z.core.$ZodType | undefined, segment: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return Object.hasOwn(schema.shape, segment) ? bare(schema.shape[segment]) : undefined
  return schema instanceof z.ZodArray && segment === '*' ? bare(schema.element) : undefined
}

/** The schema without what only says that a value may be missing. */
export function bare(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? bare(schema.unwrap())
    : schema
}

/** Whether an output (`password`, `endpoint/port`) shows what must not be shown: no ledger keeps it. */
export function isSecretOutput(kind: Kind, name: string): boolean {
  const {secret, writeOnly} = name.split('/').reduce((rule, segment) => rule.below(/^\d+$/.test(segment) ? '*' : segment), rootRule(kind))
  return secret === true || writeOnly === true
}
