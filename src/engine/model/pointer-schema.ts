/** JSON pointers in documents from outside: what passes here `parsePointer` takes, and nothing that walks them runs out of room. */
import {z} from 'zod'
import {MAX_JSON_LEVELS} from '../../base/bounded-json.ts'

function pointerWithin(segments: number, characters: number): z.ZodType<string> {
  return z
    .string()
    .max(characters, {abort: true, error: `has more than ${characters} characters`})
    .regex(new RegExp(`^(/[^/]*){0,${segments}}$`), {
      error: ({input}) => (String(input).startsWith('/') ? `has more than ${segments} segments` : 'is no JSON pointer'),
    })
}

/** In plans and declarations: as deep as a document may be. */
export const pointer = pointerWithin(MAX_JSON_LEVELS, 65_536)

/** In a file that people write and read. */
export const shortPointer = pointerWithin(100, 4_096)

/** What is wrong with a pointer, in words that follow the name of it; `undefined` when nothing is. */
export const pointerFault = (text: string, schema: z.ZodType<string> = pointer): string | undefined =>
  schema.safeParse(text).error?.issues[0]?.message
