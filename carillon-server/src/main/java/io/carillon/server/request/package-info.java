/**
 * What several routes need to answer a request: stored responses for repeated requests, the current rights of a caller
 * that gives access to others, and warnings about handlers that no node has. Contains no routes. Start at
 * IdempotentRequest.
 */
@NullMarked
package io.carillon.server.request;

import org.jspecify.annotations.NullMarked;
