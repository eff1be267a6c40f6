import {parseAnyJson} from '../base/bounded-json.ts'
import {quote} from '../base/quoted-text.ts'

/**
 * Terraform's spelling of one of our objects: `null_resource.cache`, `null_resource.cache[0]`, `null_resource.cache["a"]`,
 * and of what one of them was before it was replaced: `null_resource.cache (deposed 1f0c2d3e)`.
 */

export type IndexKey = string | number

export interface ResourceAddress {
  readonly name: string
  /** Of `count` or `for_each`. */
  readonly index?: IndexKey
  /** Replaced, and not deleted yet: Terraform's key of it. */
  readonly deposed?: string
}

const RESOURCE = 'null_resource'
const ADDRESS = /^null_resource\.([\p{ID_Start}_][\p{ID_Continue}-]*)(?:\[(\d+|".*")\])?(?: \(deposed ([0-9a-f]{8})\))?$/su

/** `undefined` when the text is no address of ours. */
export function parseAddress(text: string): ResourceAddress | undefined {
  const [, name, index, deposed] = ADDRESS.exec(text) ?? []
  if (name === undefined) return undefined
  const former = deposed === undefined ? {} : {deposed}
  if (index === undefined) return {name, ...former}
  if (!index.startsWith('"')) return {name, index: Number(index), ...former}
  try {
    const key: unknown = parseAnyJson(index)
    return typeof key === 'string' ? {name, index: key.replaceAll('$${', '${').replaceAll('%%{', '%{'), ...former} : undefined
  } catch {
    return undefined
  }
}

export function formatAddress({name, index, deposed}: ResourceAddress): string {
  const at = typeof index === 'string' ? quote(index) : index
  return `${RESOURCE}.${name}${at === undefined ? '' : `[${at}]`}${deposed === undefined ? '' : ` (deposed ${deposed})`}`
}
