package io.carillon.it.architecture;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;

/** Rules for the poms: the metadata that published modules need, and when the comparison of the API is on. */
record PomRules(SourceTree tree) {

    /** The version before which no release exists that the API could be compared with. */
    private static final String FIRST_VERSION = "0.1.0";

    private static final String MODULE_NAME =
            "/project/build/pluginManagement/plugins/plugin[artifactId='maven-jar-plugin']"
                    + "/configuration/archive/manifestEntries/Automatic-Module-Name";

    /** Returns the metadata that published modules lack. */
    List<String> missingMetadata() {
        Document parent = parent();
        List<String> missing = new ArrayList<>();
        for (String element : List.of("name", "description", "licenses/license/url", "developers/developer/name")) {
            if (text(parent, "/project/" + element).isEmpty()) missing.add("pom.xml needs " + element);
        }
        for (Path module : publishedModules()) {
            Document pom = parse(module.resolve("pom.xml"));
            for (String element : List.of("name", "description")) {
                if (text(pom, "/project/" + element).isEmpty()) missing.add(shown(module) + " needs " + element);
            }
        }
        return missing;
    }

    /** Returns the published modules whose name for the Java module system does not follow from their artifact. */
    List<String> wrongModuleNames() {
        List<String> wrong = new ArrayList<>();
        if (!text(parent(), MODULE_NAME).equals("${module.name}")) {
            wrong.add("pom.xml needs Automatic-Module-Name with ${module.name} in the manifest of jars");
        }
        for (Path module : publishedModules()) {
            Document pom = parse(module.resolve("pom.xml"));
            String expected = text(pom, "/project/artifactId").replace("carillon-", "io.carillon.");
            String actual = text(pom, "/project/properties/module.name");
            if (!actual.equals(expected)) {
                wrong.add("%s needs the property module.name with the value %s (was '%s')"
                        .formatted(shown(module), expected, actual));
            }
        }
        return wrong;
    }

    /** Returns what a version that is not a snapshot lacks: the addresses of the project and of its source. */
    List<String> missingAddresses() {
        Document parent = parent();
        if (text(parent, "/project/version").endsWith("-SNAPSHOT")) {
            return List.of();
        }
        return Stream.of("url", "scm/url", "scm/connection")
                .filter(element -> text(parent, "/project/" + element).isEmpty())
                .map(element -> "pom.xml needs " + element + " for a release")
                .toList();
    }

    /** Returns a message if a version after the first does not compare its API with a released version. */
    List<String> missingApiCheck() {
        Document parent = parent();
        String version = text(parent, "/project/version").replace("-SNAPSHOT", "");
        boolean on = text(parent, "/project/properties/api.check.skip").equals("false")
                && text(parent, "/project/properties/api.baseline").matches("\\d+\\.\\d+\\.\\d+");
        return on || version.equals(FIRST_VERSION)
                ? List.of()
                : List.of("pom.xml needs api.baseline with the last released version and api.check.skip with false");
    }

    private List<Path> publishedModules() {
        return tree.modules().stream()
                .filter(module -> !text(parse(module.resolve("pom.xml")), "/project/properties/maven.deploy.skip")
                        .equals("true"))
                .toList();
    }

    private Document parent() {
        return parse(tree.root().resolve("pom.xml"));
    }

    private String shown(Path module) {
        return tree.shown(module.resolve("pom.xml"));
    }

    private static Document parse(Path pom) {
        try {
            var bytes = SourceTree.read(pom).getBytes(StandardCharsets.UTF_8);
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream(bytes));
        } catch (Exception e) {
            throw new IllegalStateException("Cannot parse " + pom, e);
        }
    }

    private static String text(Document pom, String path) {
        try {
            return XPathFactory.newInstance().newXPath().evaluate(path, pom).strip();
        } catch (Exception e) {
            throw new IllegalArgumentException("Not a path into a pom: " + path, e);
        }
    }
}
