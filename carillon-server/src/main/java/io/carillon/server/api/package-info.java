/**
 * The routes of {@code /v1}: each reads a request, does one thing by the front door in one transaction, and shows what is there now. Start at Api.
 *
 * <p>A new family of routes is a class with a method {@code routes()} and a line in {@code Api}. What changes something goes through {@code Deeds.change}, which
 * writes the audit log and keeps answers; what reads goes through {@code Deeds.read}. Each operation is declared in openapi.json with permission, fields and
 * error codes, and has a sample of its body in the tests: then bad input, scopes, audit and the wall between projects are tested without a further line.
 */
@NullMarked
package io.carillon.server.api;

import org.jspecify.annotations.NullMarked;
