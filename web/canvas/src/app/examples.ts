/** Workflows that come with the page, and the pictures they load. */
import detectFaces from "../../../../workflows/detect_faces.json?raw";
import imageToImage from "../../../../workflows/image_to_image.json?raw";
import inpaint from "../../../../workflows/inpaint.json?raw";
import textToImage from "../../../../workflows/text_to_image.json?raw";
import apple from "../../../../workflows/photos/apple.png?url";
import astronaut from "../../../../workflows/photos/astronaut.jpg?url";
import half from "../../../../workflows/photos/half.png?url";

export const EXAMPLES = { textToImage, imageToImage, inpaint, detectFaces } as const;
export type Example = keyof typeof EXAMPLES;

/** File name -> address of the picture. */
export const PHOTOS: ReadonlyMap<string, string> = new Map([
  ["apple.png", apple], ["astronaut.jpg", astronaut], ["half.png", half],
]);
