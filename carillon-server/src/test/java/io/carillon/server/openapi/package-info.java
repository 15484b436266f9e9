/**
 * The OpenAPI description as tests use it: its operations, sample requests, and the page docs/rest.md that is
 * generated from it.
 */
package io.carillon.server.openapi;
