/**
 * Checks that the pages in docs agree with the code: links, examples, names, and the evidence of requirements, faults
 * and security.
 */
package io.carillon.it.docs;
