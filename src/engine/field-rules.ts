/** What holds for one field of a kind: its own rule, what it inherits from those above it, and what the schema knows of it. */
import {z} from 'zod'
import {parsePointer} from '../base/pointer.ts'
import type {FieldRule, Kind} from './kind.ts'

/** A place in a spec: a JSON pointer with `*` for list slots. */
export type Pattern = string

export interface EffectiveRule extends FieldRule {
  /** In the kind's schema. A field that only passes through is not promised to come back. */
  readonly known: boolean
  /** The schema refuses fields it does not name, so what a server adds below is not ours to send. */
  readonly strict: boolean
}

const cache = new WeakMap<Kind, Map<Pattern, EffectiveRule>>()

export function ruleAt(kind: Kind, pattern: Pattern): EffectiveRule {
  const rules = cache.get(kind) ?? new Map<Pattern, EffectiveRule>()
  cache.set(kind, rules)
  const rule = rules.get(pattern) ?? effectiveRule(kind, pattern)
  rules.set(pattern, rule)
  return rule
}

function effectiveRule(kind: Kind, pattern: Pattern): EffectiveRule {
  const own = kind.fields[pattern]
  const schema = schemaAt(kind.spec, parsePointer(pattern))
  const {immutable, writeOnly, createOnly, secret, mayBeAbsent, risk} = pattern === '' ? {} : ruleAt(kind, parentOf(pattern))
  return {
    ...(immutable ? {immutable} : {}),
    ...(writeOnly ? {writeOnly} : {}),
    ...(createOnly ? {createOnly} : {}),
    ...(secret ? {secret} : {}),
    ...(mayBeAbsent ? {mayBeAbsent} : {}),
    ...(risk ? {risk} : {}),
    ...own,
    known: schema !== undefined,
    strict: schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever,
  }
}

const parentOf = (pattern: Pattern): Pattern => pattern.slice(0, pattern.lastIndexOf('/'))

function schemaAt(root: z.core.$ZodType, segments: readonly string[]): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = root
  for (const segment of segments) {
    if (schema instanceof z.ZodObject) schema = bare(schema.shape[segment])
    else if (schema instanceof z.ZodArray && segment === '*') schema = bare(schema.element)
    else return undefined
  }
  return schema
}

function bare(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? bare(schema.unwrap())
    : schema
}
