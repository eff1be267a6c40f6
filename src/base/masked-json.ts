/** The document of an answer, read in parts where it is large; its secrets are masked as it is read, so that no second one stands beside it. */
import {jsonParts} from './json-parts.ts'
import {type ExactJson, type ExactObject, parseSpelledJson} from './lossless-json.ts'
import {isSecretName, maskSecrets} from './secret-fields.ts'
import {textOf} from './text-of.ts'

/**
 * @param bytes - of JSON text
 * @param stretchBytes - of the parts that a large one is read in
 * @returns the value with every number as it was spelled
 * @throws SyntaxError as JSON.parse does, JsonBoundsError
 */
export const parseMaskedJson = (bytes: Uint8Array, stretchBytes?: number): ExactJson =>
  inParts(bytes, stretchBytes, maskSecrets) ?? maskSecrets(parseSpelledJson(textOf(bytes)))

/** As `parseMaskedJson`, with its secrets: what is shown of it is masked later. */
export const parseSpelledBytes = (bytes: Uint8Array, stretchBytes?: number): ExactJson =>
  inParts(bytes, stretchBytes, items => items) ?? parseSpelledJson(textOf(bytes))

type Opened = {readonly secret: boolean} & ({readonly items: ExactJson[]} | {readonly fields: Record<string, ExactJson>})

type Mask = (items: readonly ExactJson[] | ExactObject, secret: boolean) => readonly ExactJson[] | ExactObject

function inParts(bytes: Uint8Array, stretchBytes: number | undefined, mask: Mask): ExactJson | undefined {
  const parts = jsonParts(bytes, stretchBytes, true)
  if (parts === undefined) return undefined
  const opened: Opened[] = []
  let root: ExactJson | undefined
  try {
    for (const part of parts) {
      const within = opened.at(-1)
      if (part.is === 'close') opened.pop()
      else if (part.is === 'items') add(within, mask(part.items, within?.secret === true))
      else {
        const secret = within?.secret === true || (part.key !== undefined && isSecretName(part.key))
        const made: Opened = part.list ? {secret, items: []} : {secret, fields: {}}
        const value = 'items' in made ? made.items : made.fields
        if (within === undefined) root = value
        else add(within, part.key === undefined ? [value] : Object.fromEntries([[part.key, value]]))
        opened.push(made)
      }
    }
  } catch (error) {
    // What is wrong with it is said about the text as a whole.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return root
}

function add(within: Opened | undefined, more: readonly ExactJson[] | ExactObject): void {
  if (within === undefined) return
  if ('items' in within) for (const item of more as readonly ExactJson[]) within.items.push(item)
  else
    for (const [key, value] of Object.entries(more))
      Object.defineProperty(within.fields, key, {value, enumerable: true, configurable: true, writable: true})
}
