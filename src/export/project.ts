/** The files around exported code: what makes a folder of it a project of its own. */
import {createHash} from 'node:crypto'
import {canonicalJson} from '../base/json.ts'
import type {ExportModel} from './model.ts'

/**
 * Ledgers tell apps apart by it. cdktf makes one up; an export gives the same bytes for the same objects, so that what tells
 * two exports apart is what they have.
 */
function projectIdOf(stacks: ExportModel['stacks']): string {
  const objects = stacks.flatMap(stack => stack.objects.map(it => [stack.id, it.kind.name, it.remoteId, it.name ?? null]))
  const digits = createHash('sha256').update(canonicalJson(objects)).digest('hex')
  // A UUID whose digits are our own (version 8 of RFC 9562).
  return [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-')
}

/** By name. Prettier changes nothing in them: package.json stands as npm writes it. */
export const projectFiles = (version: string, {stacks}: Pick<ExportModel, 'stacks'>): ReadonlyMap<string, string> =>
  new Map([
    ['cdktf.json', `{"language": "typescript", "app": "node --import tsx main.ts", "projectId": "${projectIdOf(stacks)}"}\n`],
    [
      'package.json',
      `${JSON.stringify(
        {
          private: true,
          type: 'module',
          dependencies: {
            '@cdktf/provider-null': '^11.0.0',
            cdktf: '^0.21.0',
            constructs: '~10.7',
            svcctl: `^${version}`,
            tsx: '^4.23.0',
          },
          devDependencies: {typescript: '>=5.5'},
        },
        null,
        2,
      )}\n`,
    ],
    [
      'tsconfig.json',
      `{
  "compilerOptions": {
    "target": "es2022",
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true
  }
}
`,
    ],
  ])
