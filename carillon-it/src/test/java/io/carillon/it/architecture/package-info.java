/**
 * The architecture rules with the test that applies them to the product, and a bad sample for every rule and build
 * check. Start at {@link io.carillon.it.architecture.ArchitectureTest}.
 */
package io.carillon.it.architecture;
