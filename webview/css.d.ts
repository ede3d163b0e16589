/** The bundler takes a style sheet that a script imports into the script's own. */
declare module '*.css';
