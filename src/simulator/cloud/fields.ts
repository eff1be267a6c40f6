/** What the cloud API demands of a request body (contract sections 2 and 7). */
import {isJsonObject, type Json} from '../../base/json.ts'
import {Refusal} from '../base/answer.ts'
import type {Fields} from '../base/world.ts'

type FieldType = 'text' | 'size' | 'integer' | 'boolean' | 'object' | 'list'

/** Database fields of the contract, with the types it gives. */
const DATABASE_FIELDS: Readonly<Record<string, FieldType>> = {
  name: 'text',
  memoryLimitInGb: 'size',
  protocol: 'text',
  port: 'integer',
  throughputMeasurement: 'object',
  replication: 'boolean',
  dataPersistence: 'text',
  dataEvictionPolicy: 'text',
  modules: 'list',
  alerts: 'list',
  backup: 'object',
}

export function requireField(fields: Fields, field: string, path = field): void {
  const value = fields[field]
  if (value === undefined || value === null || value === '') {
    throw new Refusal(400, 'INVALID_REQUEST', `${path} is required.`, {field: path, constraint: 'required'})
  }
}

const FITS: Readonly<Record<FieldType, (value: Json) => boolean>> = {
  text: value => typeof value === 'string',
  size: value => typeof value === 'number' && value > 0,
  integer: value => typeof value === 'number' && Number.isInteger(value),
  boolean: value => typeof value === 'boolean',
  object: isJsonObject,
  list: value => Array.isArray(value) && value.every(item => isJsonObject(item) && typeof item.name === 'string'),
}

/** The known fields of a database body; `null` counts as left out, unknown fields are not kept. */
export function databaseFields(body: Fields, prefix = ''): Fields {
  const out: Fields = {}
  for (const [field, type] of Object.entries(DATABASE_FIELDS)) {
    const value = body[field]
    if (value === undefined || value === null) continue
    if (!FITS[type](value)) {
      throw new Refusal(400, 'INVALID_REQUEST', `${prefix}${field} has a wrong value.`, {field: `${prefix}${field}`, constraint: type})
    }
    out[field] = value
  }
  return out
}

/** A text field where it is given. */
export function requireText(fields: Fields, field: string): void {
  requireField(fields, field)
  if (typeof fields[field] !== 'string') {
    throw new Refusal(400, 'INVALID_REQUEST', `${field} must be text.`, {field, constraint: 'text'})
  }
}
