/** The files around exported code: what makes a folder of it a project of its own. */

/** By name. Prettier changes nothing in them: package.json stands as npm writes it. */
export const projectFiles = (version: string): ReadonlyMap<string, string> =>
  new Map([
    ['cdktf.json', '{"language": "typescript", "app": "node --import tsx main.ts"}\n'],
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
