/** The JSON Schema of a document that a command prints, as it stands in `schemas/`. */
import {z} from 'zod'

export const published = (schema: z.ZodType, title: string, description: string): Record<string, unknown> => ({
  ...z.toJSONSchema(schema, {unrepresentable: 'any', reused: 'inline'}),
  title,
  description,
})

/** What every document says that may have cost something. */
export const requestsSchema = z.strictObject({used: z.int().nonnegative()}).describe('what the servers saw')
