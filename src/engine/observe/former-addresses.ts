/** Where `moved` blocks say that a declaration was before. */
import type {StackDeclarations} from '../model/declaration.ts'

type Moved = StackDeclarations['moved']

interface Block {
  readonly at: number
  readonly from: string
  readonly to: string
}

/** The first block for each address, and the first that covers its instances too. */
interface Blocks {
  readonly exact: ReadonlyMap<string, Block>
  readonly covering: ReadonlyMap<string, Block>
}

/** Asked of each declaration: the blocks of a stack are gone through once. */
const known = new WeakMap<Moved, Blocks>()

/** The addresses `moved` blocks lead back to, newest first. A block for a bare address covers its instances. */
export function formerAddresses(moved: Moved, address: string): string[] {
  const former: string[] = []
  if (moved.length === 0) return former
  const blocks = known.get(moved) ?? blocksOf(moved)
  known.set(moved, blocks)
  for (let at: string | undefined = address; at !== undefined && former.length <= moved.length; ) {
    const here: string = at
    const block = blockFor(blocks, here)
    at = block && `${block.from}${here.slice(block.to.length)}`
    if (at !== undefined) former.push(at)
  }
  return former
}

function blocksOf(moved: Moved): Blocks {
  const [exact, covering] = [new Map<string, Block>(), new Map<string, Block>()]
  for (const [at, {from, to}] of moved.entries()) {
    const block = {at, from, to}
    if (!exact.has(to)) exact.set(to, block)
    if (!from.endsWith(']') && !covering.has(to)) covering.set(to, block)
  }
  return {exact, covering}
}

/** The one that stands first, whichever way it covers the address. */
function blockFor({exact, covering}: Blocks, address: string): Block | undefined {
  let first = exact.get(address)
  for (let at = address.indexOf('['); at >= 0; at = address.indexOf('[', at + 1)) {
    const block = covering.get(address.slice(0, at))
    if (block !== undefined && (first === undefined || block.at < first.at)) first = block
  }
  return first
}
