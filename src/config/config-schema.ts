/** The configuration file as editors know it: made of the table of fields, and published as `schemas/config.schema.json`. */
import {z} from 'zod'
import type {Deployment} from '../base/apis.ts'
import {PROFILE_FIELDS, type ProfileField} from './profile-fields.ts'

/** What is filled in when it is read: `${VAR}`, `${VAR:-default}`, and the name of an entry of the system's keyring. */
const reference = z
  .string()
  .regex(/\$\{[^}]+\}|^keyring:/)
  .describe('${VAR}, ${VAR:-default} or keyring:NAME')

function fieldSchema({type, choices, secret}: ProfileField): z.ZodType {
  const said = secret ? 'a secret; better ${VAR} or keyring:NAME than the text itself' : undefined
  const own = (() => {
    switch (type) {
      case 'text':
        return choices === undefined ? z.string() : z.union([z.enum(choices), reference])
      case 'duration':
        return z.union([z.string().regex(/^\s*\d+(\.\d+)?(ms|s|m|h|d)?\s*$/), z.number().positive(), reference])
      case 'number':
        return z.union([z.number().min(0), z.string().regex(/^\s*\d+(\.\d+)?\s*$/), reference])
      case 'switch':
        return z.union([z.boolean(), z.enum(['true', 'false', 'yes', 'no', 'on', 'off', '1', '0']), reference])
      default:
        return type satisfies never
    }
  })()
  return said === undefined ? own : own.describe(said)
}

const profileOf = (deployment: Deployment) =>
  z.strictObject({
    ...Object.fromEntries(
      Object.entries(PROFILE_FIELDS)
        .filter(([, field]: readonly [string, ProfileField]) => field.only === undefined || field.only === deployment)
        .map(([name, field]) => [name, fieldSchema(field).optional()]),
    ),
    deployment_type: z.literal(deployment),
  })

const profile = z.union([profileOf('cloud'), profileOf('enterprise')])

export const configSchema = z.strictObject({
  default_cloud: z.string().optional().describe('the profile for the cloud API where none is named'),
  default_enterprise: z.string().optional().describe('the profile for the cluster API where none is named'),
  files_api_key: z.string().optional().describe('key for uploading support packages; ${VAR} or keyring:NAME'),
  profiles: z.record(z.string(), profile).optional(),
})

/** The schema as published, draft 2020-12. */
export const configJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(configSchema, {unrepresentable: 'any', reused: 'ref'}),
  title: 'The configuration of svcctl',
  description: '`config.toml` of svcctl: profiles, and which of them is used where none is named.',
})
