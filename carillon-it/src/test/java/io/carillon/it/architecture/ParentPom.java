package io.carillon.it.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * The settings of the checks in the parent pom. The samples use these flags, so that samples and build cannot differ.
 */
final class ParentPom {

    private static final String COMPILER =
            "/project/build/pluginManagement/plugins/plugin[artifactId='maven-compiler-plugin']";
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^}]+)}");

    private final Document document;
    private final Map<String, String> properties = new TreeMap<>();

    private ParentPom(Document document) {
        this.document = document;
        addProperties("/project/properties/*");
        if (newerJdk()) {
            addProperties("/project/profiles/profile[id='newer-jdk']/properties/*");
        }
    }

    static ParentPom read() throws Exception {
        var builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        return new ParentPom(
                builder.parse(SourceTree.here().root().resolve("pom.xml").toFile()));
    }

    /** Returns whether the profile for newer JDKs is active, in which warnings do not fail the build. */
    static boolean newerJdk() {
        return Runtime.version().feature() >= 21;
    }

    /** Returns the javac flags for main sources. */
    List<String> mainFlags() {
        return flags(COMPILER + "/configuration/compilerArgs/arg");
    }

    /** Returns the javac flags for test sources. */
    List<String> testFlags() {
        return flags(COMPILER + "/executions/execution[id='default-testCompile']/configuration/compilerArgs/arg");
    }

    /** Returns the text at one path of the pom with its placeholders resolved, except those of the project itself. */
    String text(String path) {
        List<String> found = texts(path);
        if (found.size() != 1) {
            throw new IllegalStateException(
                    "pom.xml has " + found.size() + " nodes at " + path + ", not one: " + found);
        }
        return found.get(0);
    }

    private List<String> flags(String path) {
        List<String> flags = new ArrayList<>(List.of("--release", text("/project/properties/maven.compiler.release")));
        flags.addAll(texts(path));
        return flags;
    }

    private List<String> texts(String path) {
        return elements(path).stream()
                .map(element -> filled(element.getTextContent().strip()))
                .toList();
    }

    private void addProperties(String path) {
        elements(path).forEach(element -> properties.put(element.getTagName(), element.getTextContent()));
    }

    private String filled(String text) {
        return PLACEHOLDER.matcher(text).replaceAll(found -> {
            String name = found.group(1);
            String value = name.startsWith("project.") ? found.group() : properties.get(name);
            if (value == null) {
                throw new IllegalStateException("pom.xml sets no property " + name);
            }
            return Matcher.quoteReplacement(value);
        });
    }

    private List<Element> elements(String path) {
        try {
            NodeList found =
                    (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
            List<Element> elements = new ArrayList<>();
            for (int i = 0; i < found.getLength(); i++) {
                elements.add((Element) found.item(i));
            }
            return elements;
        } catch (XPathExpressionException e) {
            throw new IllegalArgumentException("Not a path into pom.xml: " + path, e);
        }
    }
}
