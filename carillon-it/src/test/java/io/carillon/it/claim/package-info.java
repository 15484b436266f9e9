/**
 * Tests of claiming: which runs a node gets, in which order, and how lanes and nodes share them.
 */
package io.carillon.it.claim;
