/** Terraform's spelling of one of our objects: `null_resource.cache`, `null_resource.cache[0]`, `null_resource.cache["a"]`. */

export type IndexKey = string | number

export interface ResourceAddress {
  readonly name: string
  /** Of `count` or `for_each`. */
  readonly index?: IndexKey
}

const RESOURCE = 'null_resource'
const ADDRESS = /^null_resource\.([\p{ID_Start}_][\p{ID_Continue}-]*)(?:\[(\d+|".*")\])?$/su

/** `undefined` when the text is no address of ours. */
export function parseAddress(text: string): ResourceAddress | undefined {
  const [, name, index] = ADDRESS.exec(text) ?? []
  if (name === undefined) return undefined
  if (index === undefined) return {name}
  if (!index.startsWith('"')) return {name, index: Number(index)}
  try {
    const key: unknown = JSON.parse(index)
    return typeof key === 'string' ? {name, index: key.replaceAll('$${', '${').replaceAll('%%{', '%{')} : undefined
  } catch {
    return undefined
  }
}

/** A `for_each` key is quoted as Terraform prints it: template openers are doubled. */
export function formatAddress({name, index}: ResourceAddress): string {
  if (index === undefined) return `${RESOURCE}.${name}`
  if (typeof index === 'number') return `${RESOURCE}.${name}[${index}]`
  return `${RESOURCE}.${name}[${JSON.stringify(index).replaceAll('${', '$${').replaceAll('%{', '%%{')}]`
}
