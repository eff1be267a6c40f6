/** The document of an answer, with its secrets masked as it is read: of a large one, what is masked never stands beside the rest. */
import {jsonParts} from './json-parts.ts'
import {type ExactJson, type ExactObject, parseSpelledJson} from './lossless-json.ts'
import {isSecretName, maskSecrets} from './secret-fields.ts'

/**
 * @param bytes - of JSON text
 * @param stretchBytes - of the parts that a large one is read in
 * @returns the value with every number as it was spelled
 * @throws SyntaxError as JSON.parse does, JsonBoundsError
 */
export function parseMaskedJson(bytes: Uint8Array, stretchBytes?: number): ExactJson {
  return inParts(bytes, stretchBytes) ?? maskSecrets(parseSpelledJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()))
}

type Opened = {readonly secret: boolean} & ({readonly items: ExactJson[]} | {readonly fields: Record<string, ExactJson>})

function inParts(bytes: Uint8Array, stretchBytes: number | undefined): ExactJson | undefined {
  const parts = jsonParts(bytes, stretchBytes)
  if (parts === undefined) return undefined
  const opened: Opened[] = []
  let root: ExactJson | undefined
  try {
    for (const part of parts) {
      const within = opened.at(-1)
      if (part.is === 'close') opened.pop()
      else if (part.is === 'items') add(within, maskSecrets(part.items, within?.secret))
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
