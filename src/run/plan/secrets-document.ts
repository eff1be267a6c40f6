/** What `svcctl secrets` prints with `-o json`, as published in `schemas/`. */
import {z} from 'zod'
import type {SecretUse} from '../../report/secrets-text.ts'
import {published} from '../host/published-schema.ts'

export const secretsSchema: z.ZodType<readonly SecretUse[]> = z.array(
  z.strictObject({
    stack: z.string(),
    name: z.string(),
    variable: z.string().describe('the variable of the environment that gives it'),
    version: z.string().nullable().describe('null: a salted digest of the value tells whether it changed'),
    set: z.boolean().describe('whether a value is given now'),
    usedBy: z.array(z.string()).describe('addresses; of another stack with its name in front'),
    changeable: z.boolean().describe('whether an apply can change it everywhere'),
    fields: z.array(
      z.strictObject({
        address: z.string(),
        path: z.string().describe('JSON pointer in the spec'),
        changeable: z.boolean(),
        why: z.string().exactOptional().describe('why not'),
      }),
    ),
  }),
)

export const secretsJsonSchema = (): Record<string, unknown> =>
  published(secretsSchema, 'The secrets of stacks', 'What `svcctl secrets -o json` prints: names, never values.')
