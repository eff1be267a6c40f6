// Which tests say something about changed files: those that stand where the files stand (`test/` mirrors `src/`).
import {basename, dirname, join} from 'node:path/posix'

/** What is read by all, or says something of all. */
const ALWAYS = 'test/architecture.test.ts'

/**
 * @param changed - paths in the repository
 * @param exists - whether a path of the repository is there
 * @returns files and folders of tests; `undefined` when all are meant, because what all tests stand on has changed
 */
export function testsNear(changed, exists) {
  if (changed.some(it => /^test\/support\/|^vitest\.config|^package(?:-lock)?\.json$|^tsconfig/.test(it))) return undefined
  const near = changed.flatMap(path => {
    if (path.endsWith('.test.ts')) return exists(path) ? [path] : []
    if (/\.md$/.test(path)) return ['test/documents.test.ts', ...(path === 'README.md' ? ['test/readme.test.ts'] : [])]
    const [, top = '', inside = ''] = /^(src|test|scripts|bench|examples)\/(.*)$/.exec(path) ?? []
    if (top === '') return []
    return placesOf(top === 'src' || top === 'test' ? join('test', inside) : join('test', top, inside), exists)
  })
  return [...new Set([...near, ALWAYS])].sort()
}

/** The test of that name and the folder of that name, or the nearest folder that has tests. */
function placesOf(path, exists) {
  const name = join(dirname(path), basename(path).replace(/\.[^.]*$/, ''))
  const own = [`${name}.test.ts`, name].filter(exists)
  if (own.length > 0) return own.map(it => (it === name ? `${name}/` : it))
  let folder = dirname(path)
  while (!exists(folder)) folder = dirname(folder)
  return [folder === 'test' ? ALWAYS : `${folder}/`]
}
