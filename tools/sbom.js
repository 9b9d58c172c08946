// npm run sbom: writes sbom.json, a CycloneDX list of the packages that the program needs at run time, in the versions of
// package-lock.json. `npm sbom --omit=dev` would omit packages that development tools need as well, so this script filters
// the complete list.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** @typedef {{ readonly name: string, readonly version: string, readonly 'bom-ref': string }} Component */
/**
 * @typedef {{
 *   readonly metadata: { readonly component: Component },
 *   readonly components: readonly Component[],
 *   readonly dependencies: readonly { readonly ref: string, readonly dependsOn: readonly string[] }[],
 * }} Bom
 */

/** @type {{ name: string }} */
const { name } = read('package.json');
/** @type {{ packages: Readonly<Record<string, { dev?: boolean, version?: string }>> }} */
const { packages } = read('package-lock.json');
const argv = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
/** @type {Bom} */
const all = JSON.parse(execFileSync('npm', argv, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
const runtimePackages = new Set(
  Object.entries(packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
);
const components = all.components.filter(component =>
  runtimePackages.has(`${component.name}@${component.version}`),
);
const refs = new Set(components.map(component => component['bom-ref']));
const own = all.metadata.component['bom-ref'];
const dependencies = all.dependencies
  .filter(({ ref }) => ref === own || refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(each => refs.has(each)) }));
const metadata = { ...all.metadata, component: { ...all.metadata.component, name } };
writeFileSync(
  new URL('../sbom.json', import.meta.url),
  `${JSON.stringify({ ...all, metadata, components, dependencies }, null, 2)}\n`,
);

/** @param {string} file */
function read(file) {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'));
}
