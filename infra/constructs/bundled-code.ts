import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { bundleFunction, mapsBeside, sourceOf } from '../bundle.ts';

/**
 * The code of a function, bundled while the app is synthesised, without Docker.
 * NodejsFunction would write one file, parsed whole at every cold start.
 * @param addFiles puts what else the function needs into the asset
 */
export function bundledCode(
  folder: string,
  addFiles: (assetDir: string) => void = () => undefined,
): AssetCode {
  return Code.fromAsset(sourceOf(folder), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('unused'),
      local: {
        tryBundle(assetDir) {
          bundleFunction(folder, assetDir, mapsBeside(assetDir, folder));
          addFiles(assetDir);
          return true;
        },
      },
    },
  });
}
