// Runs apps one after the other in this process, for each starts with reading the library again: `node run-apps.mjs RUNS`,
// where RUNS is JSON, `[{folder, file, outdir}]`.
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'

for (const {folder, file, outdir} of JSON.parse(process.argv[2])) {
  process.chdir(folder)
  process.env.CDKTF_OUTDIR = outdir
  await import(pathToFileURL(join(folder, file)).href)
}
